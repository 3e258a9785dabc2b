"""Each benchmark that prints a table of speeds prints its rows, in its smallest size."""

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from benchmarks import bilm, embed, store
from benchmarks.checkouts import all_works
from benchmarks.harness import TEXT, parser
from tests.helpers.archives import sst
from tests.helpers.configs import TINY
from tests.helpers.reference_bilm import FIXTURE

# The arguments of each benchmark, and the first cells of its table.
BENCHMARKS: dict[str, tuple[list[Any], list[str]]] = {
    "bilm": (
        [TEXT, "--sizes", "mini", "--batches", "1", "--batch-size", "2"],
        ["mini"] * 7,
    ),
    "pretraining": (
        [TEXT, "--sizes", "mini", "--dtypes", "float32", "--words", "500", "--threads", "1"]
        + ["--batches", "1", "--batch-tokens", "64"],
        ["mini"],
    ),
    "one_sentence": (["--models", "base", "sst"], ["`base`", "`sst`"]),
    "store": (
        ["--entries", "150", "40", "--tokens", "2", "--look-ups", "10", "--cold"],
        ["40", "150"],
    ),
    "without_pytorch": (
        [TEXT, "--bilms", FIXTURE, "--lines", "9", "--batch-size", "4"],
        [str(FIXTURE)] * 3,
    ),
    "serve": (
        ["model.tar.gz", "in.jsonl", "--requests", "20"],
        [
            *("predictor, 1 at a time", "predictor, 32 at a time"),
            *("server, 1 client", "server, 8 clients", "server, 64 clients"),
        ],
    ),
}


def rows_of(out: str) -> list[list[str]]:
    """Returns the cells of the table that a benchmark prints below its heading."""
    heading, table = out.split("\n\n")[:2]
    assert re.match(r"\d{4}-\d\d-\d\d, `python ", heading) and " thread(s), torch " in heading
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_table_has_its_rows_with_numbers_in_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    for module in (bilm, store):
        monkeypatch.setattr(module, "in_a_process", lambda work, *arguments: work(*arguments))
    if name == "without_pytorch":
        pytest.importorskip("onnx", reason="onnx is not installed: pip install 'elmo-tasks[onnx]'")
        pytest.importorskip("onnxruntime", reason="pip install 'elmo-tasks[onnx]'")
    arguments, expected = BENCHMARKS[name]
    if name == "serve":
        (tmp_path / "model").mkdir()
        (tmp_path / "in.jsonl").write_text(json.dumps({"sentence": "A film"}) + "\n")
        arguments = [sst(tmp_path / "model", "baseline"), tmp_path / "in.jsonl", *arguments[2:]]
    if name == "store":
        arguments = [*arguments, "--folder", tmp_path / "store"]

    main = import_module(f"benchmarks.{name}").main

    rows = rows_of(printed(main, *arguments, "--turns", "1"))

    assert [row[0] for row in rows] == expected
    for row in rows:
        assert any(float(number) for number in re.findall(r"[\d.]*\d", " ".join(row[1:])))


def test_the_ways_to_embed_are_alike(printed: Callable[..., str]) -> None:
    settings = ["--lines", "25", "--turn", "10", "--batch-size", "4", "--threads", "1"]

    out = printed(embed.main, TEXT, "--bilm", FIXTURE, *settings)

    rows = rows_of(out)
    assert [row[0].split()[0] for row in rows] == ["elmo-embed,", "`ElmoEncoder`,", "spaCy's"] + [
        "AllenNLP's,"
    ] * 2
    assert rows[3][2] == "1.0" and all(float(row[1].replace(",", "")) > 0 for row in rows)
    difference = re.search(r"AllenNLP's layers: (\S+)$", out.strip())
    assert difference is not None and 0 < float(difference[1]) < 1e-5


def test_the_works_that_two_checkouts_do(tmp_path: Path) -> None:
    made = parser("checkouts", "").parse_args([])
    settings = {"tasks": ["sst"], "trainings": ["mini"], "sizes": ["mini"], "set": TINY}
    vars(made).update(text=TEXT, words=3000, instances=5, **settings)

    works = dict(all_works(made, str(tmp_path)))

    names = ["bare products of mini", "layers of mini", "sst, steps", "pre-training of mini, steps"]
    assert list(works) == names
    works["sst, steps"]()
