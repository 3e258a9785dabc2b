import json
import time
from pathlib import Path

import pytest

from benchmarks import harness
from benchmarks.harness import Kept, alternate, mean_cell, report


def test_works_take_turns_and_the_first_turn_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = iter(range(100))
    order: list[str] = []
    # A work takes a second by the clock, and half of that of the CPU.
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(now)))
    monkeypatch.setattr(time, "process_time", lambda: 0.5 * len(order))

    found = alternate({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, turns=3)

    assert order == ["a", "b"] * 4
    assert list(found) == ["a", "b"] and set(found.values()) == {(1.0, 0.5, 0.0)}


def test_a_result_is_measured_once_also_by_another_run(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"

    Kept(path).get("a", "pos", measure=lambda: {"x": [1.0, 3.0]})
    again = Kept(path)

    assert again.get("a", "pos", measure=lambda: pytest.fail("measured twice")) == {"x": [1.0, 3.0]}
    assert again.get("b", measure=lambda: 5) == 5
    assert json.loads(path.read_text()) == {"a": {"pos": {"x": [1.0, 3.0]}}, "b": 5}


def test_a_report_is_a_line_and_a_table(capsys: pytest.CaptureFixture) -> None:
    cells = map(mean_cell, ([], [5.0], [1.0, 3.0]))
    report(["a", "b", "c"], [list(cells)], "10 lines", times=[harness.Time(2, 1, 0.25)])

    heading, _, *table, _, foot = capsys.readouterr().out.splitlines()
    assert heading.endswith(", 10 lines")
    assert [cell.strip() for cell in table[-1].split("|")[1:-1]] == ["", "5.0", "2.0 ± 1.4"]
    assert foot == "The CPU time of a row's turns differs by up to 25%."
