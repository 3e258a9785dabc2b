import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.modules.elmo import batch_to_ids
from torch.nn.functional import cosine_similarity

from elmo_tasks.bilm import BiLm
from tests.helpers.archives import FIXTURE, classifier, sst
from tests.helpers.command_line import allennlp
from tests.helpers.reference_bilm import FIXTURE_FILES

FIXTURES = Path(__file__).parents[2] / "fixtures"
CORPUS = FIXTURES / "corpus" / "train.txt"
BILM = BiLm.from_files(*FIXTURE_FILES).eval()
FILES = ("--options-file", FIXTURE_FILES[0], "--weight-file", FIXTURE_FILES[1])


def numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, *args: object
) -> dict[str, Any]:
    capsys.readouterr()
    allennlp(monkeypatch, "elmo-neighbors", *args, *FILES, "--json", "-")
    return json.loads(capsys.readouterr().out)


def refusal(monkeypatch: pytest.MonkeyPatch, *args: object) -> str:
    with pytest.raises(SystemExit) as refused:
        allennlp(monkeypatch, "elmo-neighbors", *args)
    return str(refused.value)


def vector(place: dict[str, Any], layer: int) -> torch.Tensor:
    """Of a word in its sentence alone."""
    return BILM(batch_to_ids([place["words"]])).layers[0, layer, place["place"]]


def places_of(word: str) -> set[tuple[str, int]]:
    return {
        (line, place)
        for line in CORPUS.read_text().splitlines()
        for place, other in enumerate(line.split())
        if other == word
    }


def test_occurrences_are_ranked_by_their_vectors_at_a_layer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    sentence = "The goats and the boat left ."
    args = ("goats", "--corpus", CORPUS, "--sentence", sentence, "--layer", 1)

    found = numbers(monkeypatch, capsys, *args)

    assert found["layer"] == "LSTM 1" and found["beside"] == {
        "words": sentence.split(),
        "place": 1,
    }
    (ranked,) = found["groups"]
    assert {(" ".join(place["words"]), place["place"]) for place in ranked} == places_of("goats")
    wanted = vector(found["beside"], 1)
    cosines = [place["cosine"] for place in ranked]
    expected = [cosine_similarity(vector(place, 1), wanted, 0).item() for place in ranked]
    assert cosines == pytest.approx(expected, abs=1e-5)
    assert cosines == sorted(cosines, reverse=True)


def test_occurrences_are_clustered_beside_the_words_of_layer_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    found = numbers(monkeypatch, capsys, "the", "--corpus", CORPUS, "--clusters", 3)

    assert found["layer"] == "LSTM 2" and len(found["groups"]) == 3
    members = [
        (" ".join(place["words"]), place["place"]) for group in found["groups"] for place in group
    ]
    assert set(members) == places_of("the") and len(members) == found["num_occurrences"]
    for group in found["groups"]:
        vectors = torch.nn.functional.normalize(torch.stack([vector(p, 2) for p in group]))
        expected = cosine_similarity(vectors, vectors.sum(0, keepdim=True)).tolist()
        assert [place["cosine"] for place in group] == pytest.approx(expected, abs=1e-5)
    assert len(found["mean_cosines"]) == 6
    words = [pair["word"] for pair in found["nearest_words_of_layer_0"]]
    assert len(words) == 8 and "the" not in words


def test_in_the_layer_of_the_tokens_all_occurrences_are_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    found = numbers(monkeypatch, capsys, "the", "--corpus", CORPUS, "--layer", 0)

    (group,) = found["groups"]
    assert [place["cosine"] for place in group] == pytest.approx([1] * len(group))


def test_the_text_shows_the_sentences_of_each_cluster_and_the_picture_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    archive, chart = classifier(tmp_path, elmo={"type": "elmo_bilm", "bilm": FIXTURE}), tmp_path
    args = ("--corpus", CORPUS, "--max-occurrences", 20, "--top", 3, "--bilm", archive)

    allennlp(monkeypatch, "elmo-neighbors", "the", *args, "--chart", chart / "the.png")

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"the in 20 of {len(places_of('the'))} places, by the layer LSTM 2")
    headings = [place for place, line in enumerate(lines) if line.startswith("Cluster ")]
    assert len(headings) == 2
    for place in headings:
        shown = lines[place + 1 : place + 4]
        assert all("  the  " in line for line in shown) and lines[place + 4] == ""
    assert lines[-2].startswith("Mean cosines of two places: ")
    assert lines[-1].startswith("Without context (layer 0) it has one vector, nearest to: ")
    assert (chart / "the.png").read_bytes().startswith(b"\x89PNG")


def test_the_senses_of_play_come_apart_in_mini(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """The picture of the README: 18 sentences with the verb, then 18 with the noun."""
    text = FIXTURES / "play.txt"

    allennlp(monkeypatch, "elmo-neighbors", "play", "--corpus", text, "--json", "-")

    groups = json.loads(capsys.readouterr().out)["groups"]
    sentences = text.read_text().splitlines()
    clusters = {frozenset(" ".join(place["words"]) for place in group) for group in groups}
    assert clusters == {frozenset(sentences[:18]), frozenset(sentences[18:])}


def test_a_sentence_of_the_text_is_not_ranked_beside_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a boat sails\nthe boat sank\n")
    args = ("boat", "--corpus", text, "--sentence", "a boat sails")

    (ranked,) = numbers(monkeypatch, capsys, *args)["groups"]

    assert [place["words"] for place in ranked] == [["the", "boat", "sank"]]
    text.write_text("a boat sails\n")
    assert "occurs in" in refusal(monkeypatch, *args, *FILES)


def test_a_word_that_never_occurs_is_said_with_the_forms_that_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    number = len(CORPUS.read_text().splitlines())
    never = f"elmo-neighbors: 'zebra' never occurs in {CORPUS}, which has {number} sentences"
    assert refusal(monkeypatch, "zebra", "--corpus", CORPUS, *FILES) == never
    message = refusal(monkeypatch, "TUESDAY", "--corpus", CORPUS, *FILES)
    assert "; but Tuesday (" in message and message.endswith("--ignore-case takes it for the same")
    assert "is one token" in refusal(monkeypatch, "the goats", "--corpus", CORPUS, *FILES)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--layer", 3], "--layer must be from 0 to 2, not 3"),
        (["--layer", -1], "--layer must be from 0 to 2, not -1"),
        (["--sentence", "The goat ."], "--sentence must have 'goats' in it as a token"),
        (["--clusters", 0], "--clusters must be 1 or more, not 0"),
        (["--max-occurrences", 0], "--max-occurrences must be 1 or more, not 0"),
    ],
)
def test_an_option_that_cannot_be_is_refused(
    options: list[object], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert complaint in refusal(monkeypatch, "goats", "--corpus", CORPUS, *options, *FILES)


def test_a_text_that_cannot_be_read_is_refused_with_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(b"a boat\na b\xf6at\n")
    assert f"{text}:2: not UTF-8" in refusal(monkeypatch, "boat", "--corpus", text, *FILES)
    text.write_text("")
    assert "which has 0 sentences" in refusal(monkeypatch, "boat", "--corpus", text, *FILES)
    missing = refusal(monkeypatch, "boat", "--corpus", tmp_path / "missing", *FILES)
    assert missing.startswith("elmo-neighbors: ") and "\n" not in missing


def test_an_archive_without_elmo_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = sst(tmp_path, "baseline")

    message = refusal(monkeypatch, "the", "--corpus", CORPUS, "--bilm", archive)

    assert f"{archive} holds no biLM" in message
