import json
import sys
from pathlib import Path

import pytest

from scripts.task_text import main
from tests.helpers.configs import ROOT, tiny


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, task: str, *args: str) -> list[list[str]]:
    """Returns the lines of the two files."""
    config = folder / "config.json"
    config.write_text(json.dumps(tiny(task, "paper")))
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["task_text.py", str(config), str(folder / "text"), *args])
    main()
    files = [folder / "text" / name for name in ("train.txt", "heldout.txt")]
    return [file.read_text(encoding="utf-8").splitlines() for file in files]


def test_each_text_of_a_pair_is_written_once_as_its_tokens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    pairs = (ROOT / "fixtures" / "snli.jsonl").read_text(encoding="utf-8").splitlines()
    read = [pair for pair in map(json.loads, pairs) if pair["gold_label"] != "-"]

    train, heldout = run(monkeypatch, tmp_path, "snli")

    # The tokens of a text are its characters, cut at more places.
    texts = {pair[name].replace(" ", "") for pair in read for name in ("sentence1", "sentence2")}
    assert {line.replace(" ", "") for line in train} == texts
    assert train == heldout and len(train) == len(texts)
    assert f"text/train.txt: {len(texts)} texts" in capsys.readouterr().out


def test_sst_gives_whole_sentences(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trees = (ROOT / "fixtures" / "sst.txt").read_text(encoding="utf-8").splitlines()

    train, _ = run(monkeypatch, tmp_path, "sst")

    assert len(train) == len({tree for tree in trees if tree})


def test_one_field_is_written_if_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    articles = json.loads((ROOT / "fixtures" / "squad.json").read_text(encoding="utf-8"))["data"]
    passages = {p["context"] for article in articles for p in article["paragraphs"] if p["qas"]}

    train, _ = run(monkeypatch, tmp_path, "squad", "--fields", "passage")

    assert len(train) <= len(passages)
    known = {"".join(passage.split())[:5] for passage in passages}
    assert {line.replace(" ", "")[:5] for line in train} <= known


def test_a_field_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match="error: fixtures/ner.txt has no text in the fields title"):
        run(monkeypatch, tmp_path, "ner", "--fields", "title")
