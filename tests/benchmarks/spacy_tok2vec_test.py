import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import spacy_tok2vec
from tests.helpers.configs import ROOT
from tests.helpers.reference_bilm import FIXTURE


def test_each_embedding_has_a_row_and_what_was_measured_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    for name in ("eng.train", "eng.testa"):
        shutil.copy(ROOT / "fixtures" / "ner.txt", tmp_path / name)
    kept = tmp_path / "found.json"
    arguments = ["--data", tmp_path, "--results", kept, "--bilm", FIXTURE, "--component", "ner"]
    arguments += ["--steps", "2", "--sentences", "3"]

    first = printed(spacy_tok2vec.main, *arguments)
    monkeypatch.setattr(spacy_tok2vec, "measure", lambda *_: pytest.fail("it was measured twice"))
    second = printed(spacy_tok2vec.main, *arguments)

    found = json.loads(kept.read_text())
    assert first == second
    rows = [line for line in first.splitlines() if "x_k" in line]
    assert len(rows) == len(found) == 2
    assert all(0 <= each["score"] <= 1 and each["seconds"] > 0 for each in found.values())
