from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.squad import Stopwatch, first_questions, main
from elmo_tasks.readers.squad_file import parse_squad

ROOT = Path(__file__).parents[2]


def test_a_row_for_each_variant_is_printed(printed: Callable[..., str]) -> None:
    tiny = f"import '{ROOT}/fixtures/tiny.libsonnet'"
    arguments = ["fixtures/squad.json", "--questions", "5", "--turns", "1", "--threads", "1"]
    arguments += ["--batch-size", "2", "--passage-tokens", "30", "--set", tiny]

    out = printed(main, *arguments, "--variants", "both")

    heading, _, titles, _, row = out.splitlines()
    assert "first 5 questions of squad.json" in heading
    assert titles.count("|") == row.count("|") and row.startswith("| both | ")
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    parts = [int(cell.removesuffix("%")) for cell in cells if cell.endswith("%")]
    assert abs(sum(parts) - 100) <= len(parts)
    peak, before = (int(cell.split()[0].replace(",", "")) for cell in cells[-2:])
    assert peak >= before > 0


def test_the_first_questions_are_taken_with_their_passages() -> None:
    def paragraph(*ids: str) -> dict:
        qas = [{"id": id, "question": "Who?", "answers": []} for id in ids]
        return {"context": "An owl.", "qas": qas}

    articles = [[paragraph("1", "2"), paragraph("3", "4")], [paragraph("5")]]
    content = {"data": [{"paragraphs": paragraphs} for paragraphs in articles]}

    questions = parse_squad(first_questions(content, 3))

    assert [question.id for question in questions] == ["1", "2", "3"]


def test_a_stopwatch_counts_what_a_function_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Owner:
        def double(self, value: int) -> int:
            return 2 * value

    times = iter([10.0, 12.5, 20.0, 21.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    owner, watch = Owner(), Stopwatch()

    watch.time(owner, "double", "doubling")
    doubled = [owner.double(3), owner.double(4)]

    assert doubled == [6, 8]
    assert watch.seconds == {"doubling": 3.5}
