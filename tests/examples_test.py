"""Runs the files of examples/ in this process. Pages show lines of them (see docs_test.py)."""

import math
import re
import runpy
import sys
from pathlib import Path

import pytest

from elmo_tasks import LanguageModel

# Its tests are collected here, with token_embedder.jsonnet and own_model.py.
from examples.model_test import TestOwnClassifier  # noqa: F401
from tests.helpers.configs import ROOT

# What each example prints at its end. The files that others run are below.
PRINTED = {
    "classify_pytorch.py": r"training texts: 1\.00\nfood\nhow much of each layer: \[0\.[^1]",
    "features_sklearn.py": r"held out: 0\.[4-9]\d\nfood\n$",
    "train_spacy.py": r"\('Anna Weiss', 'PERSON'\), .*'Mara Lind'.* \('Dover', 'PLACE'\)\]\n$",
    "surprisal.py": r"^perplexity: \d+\.\d\n$",
}
# tests/embed/ray_engine_test.py runs this one, in the Ray that it has started.
ELSEWHERE = {"ray_data.py", "model_test.py", "own_model.py", "token_embedder.jsonnet"}


def test_every_example_is_run() -> None:
    files = {path.name for path in (ROOT / "examples").iterdir() if path.is_file()}

    assert files == PRINTED.keys() | ELSEWHERE


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fixtures").symlink_to(ROOT / "fixtures")
    Path("text.txt").write_text("The children play in the garden .\n\nThey saw a play .\n")
    arguments = ["text.txt", "words.tsv"] if name == "surprisal.py" else []
    monkeypatch.setattr(sys, "argv", [name, *arguments])

    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")

    assert re.search(PRINTED[name], capsys.readouterr().out)
    if name == "surprisal.py":
        header, *rows = [line.split("\t") for line in Path("words.tsv").read_text().splitlines()]
        assert header == ["sentence", "position", "word", "forward", "backward"]
        assert [row[:3] for row in rows[6:8]] == [["0", "6", "."], ["1", "0", "They"]]
        assert len(rows) == 12
        _, score = LanguageModel.from_pretrained("base").score(["x", "They saw a play ."])
        expected = -score.forward / math.log(2), -score.backward / math.log(2)
        for row, *bits in zip(rows[7:], *expected):
            assert [float(cell) for cell in row[3:]] == pytest.approx(bits, abs=1e-3)
