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


def test_the_text_shows_the_sentences_of_each_cluster_and_the_picture_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    archive, chart = classifier(tmp_path, elmo={"type": "elmo_bilm", "bilm": FIXTURE}), tmp_path
    args = ("--corpus", CORPUS, "--top", 3, "--bilm", archive)

    allennlp("elmo-neighbors", "the", *args, "--clusters", 3, "--chart", chart / "the.png")

    lines = capsys.readouterr().out.splitlines()
    number = CORPUS.read_text(encoding="utf-8").split().count("the")
    assert lines[0].startswith(
        f"{number} occurrences of the, compared in layer LSTM 2 of {archive};"
    )
    headings = [index for index, line in enumerate(lines) if line.startswith("Cluster ")]
    assert len(headings) == 3
    for index in headings:
        # A cluster may have fewer than three occurrences.
        shown = lines[index + 1 : lines.index("", index)]
        assert 1 <= len(shown) <= 3 and all("  the  " in line for line in shown)
    assert lines[-1].startswith("Nearest words in layer 0, which ignores the context: ")
    assert (chart / "the.png").read_bytes().startswith(b"\x89PNG")


def test_a_text_that_cannot_be_read_is_refused_with_the_line(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    args = ("elmo-neighbors", "boat", *FILES, "--corpus")
    text.write_bytes(b"a boat\na b\xf6at\n")

    assert f"{text}:2: not UTF-8" in refusal(*args, text)

    text.write_text("")

    assert "which has 0 sentences" in refusal(*args, text)

    missing = refusal(*args, tmp_path / "missing")

    assert missing.startswith("elmo-neighbors: ") and "\n" not in missing
