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
