import json
import shutil
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks import spacy_tok2vec
from tests.helpers.configs import ROOT
from tests.helpers.reference_bilm import FIXTURE


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    for name in ("eng.train", "eng.testa"):
        shutil.copy(ROOT / "fixtures" / "ner.txt", tmp_path / name)
    files = ["--data", tmp_path, "--results", tmp_path / "found.json", "--bilm", FIXTURE]
    return ["", *map(str, files), "--steps", "2", "--words", "10", "--sentences", "3"]


def test_each_embedding_has_a_row_and_what_was_measured_is_kept(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [*arguments, "--component", "ner"])

    spacy_tok2vec.main()
    first = capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())
    monkeypatch.setattr(spacy_tok2vec, "measure", lambda *_: pytest.fail("it was measured twice"))
    spacy_tok2vec.main()

    assert capsys.readouterr().out == first
    rows = [line for line in first.splitlines() if "x_k" in line]
    assert len(rows) == len(found) == 2
    assert all(0 <= each["score"] <= 1 and each["seconds"] > 0 for each in found.values())


def test_the_config_is_the_shipped_one_but_for_the_embedding(tmp_path: Path) -> None:
    args = Namespace(component="ner", steps=500, words=500, bilm="mini")
    plain, elmo = (
        spacy_tok2vec.config(args, 3, each, tmp_path) for each in spacy_tok2vec.EMBEDDINGS
    )

    embeds = [each["components"]["tok2vec"]["model"].pop("embed") for each in (plain, elmo)]
    assert plain == elmo and plain["training"]["eval_frequency"] == 100
    assert plain["nlp"]["pipeline"] == ["tok2vec", "ner"] and plain["training"]["seed"] == 3
    assert embeds[1]["words"] == embeds[0] and embeds[1]["bilm"] == "mini"
