from pathlib import Path

import pytest

from elmo_tasks.analysis.neighbors.neighbors import neighbors
from elmo_tasks.elmo.encoder import ElmoEncoder
from tests.helpers.archives import FIXTURE, classifier
from tests.helpers.command_line import allennlp, printed_numbers, refusal
from tests.helpers.reference_bilm import FIXTURE_FILES

CORPUS = Path(__file__).parents[2] / "fixtures" / "corpus" / "train.txt"
FILES = ("--options", FIXTURE_FILES[0], "--weights", FIXTURE_FILES[1])


def test_every_option_reaches_the_report(capsys: pytest.CaptureFixture) -> None:
    sentence = "The goats and the boat left ."
    expected = neighbors(
        ElmoEncoder.from_pretrained(FIXTURE_FILES).layers,
        str(FIXTURE_FILES[1]),
        "goats",
        str(CORPUS),
        sentence=sentence,
        layer=1,
        num_similar=4,
    )
    options = ["--layer", 1, "--top", 4, "--sentence", sentence, *FILES]

    found = printed_numbers(capsys, "elmo-neighbors", "goats", "--corpus", CORPUS, *options)

    assert found == expected


def test_the_picture_is_drawn_for_the_bilm_of_an_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    archive = classifier(tmp_path, elmo={"type": "elmo_bilm", "bilm": FIXTURE})
    chart = tmp_path / "the.png"

    args = ("--corpus", CORPUS, "--bilm", archive, "--clusters", 3, "--chart", chart)
    allennlp("elmo-neighbors", "the", *args)

    out = capsys.readouterr().out
    assert out.count("\nCluster ") == 3 and f"in layer LSTM 2 of {archive};" in out
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_a_text_without_a_sentence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("")

    message = refusal("elmo-neighbors", "boat", *FILES, "--corpus", tmp_path / "text.txt")

    assert "which has 0 sentences" in message


def test_raw_text_is_cut_and_other_forms_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "text.txt").write_text("The boat left. A boat. It was the boat.\nBoat and boat,\n")
    command = ("elmo-neighbors", "boat", *FILES, "--corpus", tmp_path / "text.txt")

    allennlp(*command, "--split", "--sentence", "The boat left .")

    out = capsys.readouterr().out
    assert out.startswith("3 of 4 occurrences of boat") and "; 4 sentences of" in out
    assert "\nNot among them: 1 sentences with Boat (1).\n" in out
    (tmp_path / "text.txt").write_text("The Boat left.\n")
    message = refusal(*command)
    assert "which has 1 sentences, but 1 of them have Boat (1); give one token" in message


def test_a_missing_package_is_said_before_the_text_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmo_tasks.common.errors.find_spec", lambda name: None)
    command = ("elmo-neighbors", "boat", *FILES, "--corpus", tmp_path / "missing.txt")

    assert "this needs scikit-learn, which is not installed: pip" in refusal(*command)
    needs_spacy = "this needs 'elmo-tasks[spacy]', which is not installed: pip install"
    assert needs_spacy in refusal(*command, "--split")
    (tmp_path / "in.txt").write_text("A boat.\n")
    for name in ("elmo-embed", "elmo-score"):
        output = ["--output", tmp_path / "out"] if name == "elmo-score" else [tmp_path / "out"]
        assert needs_spacy in refusal(name, tmp_path / "in.txt", *output, "--split")
