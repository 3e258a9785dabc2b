from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.modules.elmo import batch_to_ids
from torch.nn.functional import cosine_similarity

from elmo_tasks.analysis.neighbors.neighbors import neighbors, text_of
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoEncoder, SentenceLayers
from tests.helpers.neighbors_reports import neighbors_report
from tests.helpers.reference_bilm import FIXTURE_FILES

FIXTURES = Path(__file__).parents[3] / "fixtures"
CORPUS = FIXTURES / "corpus" / "train.txt"
BILM = make_bilm(*FIXTURE_FILES).eval()


def found(word: str, text: Path = CORPUS, **settings: Any) -> dict[str, Any]:
    return neighbors(SentenceLayers(BILM), "fixture", word, str(text), **settings)


def vector(place: dict[str, Any], layer: int) -> torch.Tensor:
    """Returns the vector of a word in its sentence, computed alone."""
    return BILM(batch_to_ids([place["words"]])).layers[0, layer, place["position"]]


def occurrences_of(word: str) -> set[tuple[str, int]]:
    return {
        (line, position)
        for line in CORPUS.read_text(encoding="utf-8").splitlines()
        for position, other in enumerate(line.split())
        if other == word
    }


def test_occurrences_are_ranked_by_their_vectors_at_a_layer() -> None:
    sentence = "The goats and the boat left ."

    report = found("goats", sentence=sentence, layer=1)

    assert report["layer"] == "LSTM 1"
    assert report["beside"] == {"words": sentence.split(), "position": 1}
    (ranked,) = report["groups"]
    places = {(" ".join(place["words"]), place["position"]) for place in ranked}
    assert places == occurrences_of("goats")
    wanted = vector(report["beside"], 1)
    cosines = [place["cosine"] for place in ranked]
    expected = [cosine_similarity(vector(place, 1), wanted, 0).item() for place in ranked]
    assert cosines == pytest.approx(expected, abs=1e-5)
    assert cosines == sorted(cosines, reverse=True)


def test_occurrences_are_clustered_beside_the_words_of_layer_0() -> None:
    report = found("the", num_clusters=3)

    assert report["layer"] == "LSTM 2" and len(report["groups"]) == 3
    members = [
        (" ".join(place["words"]), place["position"])
        for group in report["groups"]
        for place in group
    ]
    assert set(members) == occurrences_of("the") and len(members) == report["num_occurrences"]
    for group in report["groups"]:
        vectors = torch.nn.functional.normalize(torch.stack([vector(p, 2) for p in group]))
        expected = cosine_similarity(vectors, vectors.sum(0, keepdim=True)).tolist()
        assert [place["cosine"] for place in group] == pytest.approx(expected, abs=1e-5)
    words = [pair["word"] for pair in report["nearest_words_of_layer_0"]]
    assert len(words) == 8 and "the" not in words


@pytest.mark.parametrize("name", ["base", "mini"])
def test_the_senses_of_play_come_apart_in_the_biLMs_of_the_package(name: str) -> None:
    """The picture of the README: 18 sentences with the verb, then 18 with the noun."""
    text = FIXTURES / "play.txt"

    report = neighbors(ElmoEncoder.from_pretrained(name).layers, name, "play", str(text))

    sentences = text.read_text().splitlines()
    clusters = {
        frozenset(" ".join(place["words"]) for place in group) for group in report["groups"]
    }
    assert clusters == {frozenset(sentences[:18]), frozenset(sentences[18:])}


def test_a_sentence_of_the_text_is_not_ranked_beside_itself(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a boat sails\nthe boat sank\n")

    (ranked,) = found("boat", text, sentence="a boat sails")["groups"]

    assert [place["words"] for place in ranked] == [["the", "boat", "sank"]]
    text.write_text("a boat sails\n")
    with pytest.raises(ConfigurationError, match="'boat' occurs only in the given sentence"):
        found("boat", text, sentence="a boat sails")


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"word": "TUESDAY"}, r"'TUESDAY' never occurs in .*train\.txt, which has"),
        ({"layer": 3}, "--layer must be from 0 to 2, not 3"),
        ({"layer": -1}, "--layer must be from 0 to 2, not -1"),
        ({"sentence": "The goat ."}, "--sentence must contain the token 'goats', between blanks"),
    ],
)
def test_what_cannot_be_found_is_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        found(**{"word": "goats", **settings})


def sections(text: str) -> dict[str, list[str]]:
    """Returns the cosines of the occurrences below each heading."""
    parts = [part.splitlines() for part in text.split("\n\n")]
    return {head: [line.split()[0] for line in lines] for head, *lines in parts if lines}


def test_the_first_occurrences_of_each_cluster_stand_below_its_heading() -> None:
    text = text_of(neighbors_report(4, 2), 3)

    assert text.startswith("6 of 18 occurrences of play, compared in layer LSTM 2 of runs/a/path")
    assert "; 1,234 sentences of text.txt\n" in text
    found = sections(text)
    assert found["Cluster 1, 4 occurrences, the most typical first:"] == ["1.000", "0.990", "0.980"]
    assert found["Cluster 2, 2 occurrences, the most typical first:"] == ["1.000", "0.990"]
    assert text.endswith("\nNearest words in layer 0, which ignores the context: ball 0.62.")


@pytest.mark.parametrize(
    ("size", "furthest"), [(3, []), (4, ["0.970"]), (8, ["0.950", "0.940", "0.930"])]
)
def test_ranked_occurrences_are_the_nearest_and_those_left_the_furthest(
    size: int, furthest: list[str]
) -> None:
    text = text_of(neighbors_report(size, ranked=True), 3)

    assert "\nCompared with: They play\n" in text
    assert text.endswith("\nNearest words in the word vectors: game 0.50.")
    found = sections(text)
    assert found["The nearest:"] == ["1.000", "0.990", "0.980"]
    assert found.get("The furthest:", []) == furthest
