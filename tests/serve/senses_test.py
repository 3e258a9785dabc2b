from collections.abc import Iterator
from typing import Any

import numpy
import pytest
import torch

from elmo_tasks.elmo import ElmoEncoder, SentenceLayers
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from elmo_tasks.serve.senses import senses

TOKENIZE = ElmoSpacyTokenizer().tokenize
TEXT = "They play chess .\nThe Play is short .\n\nWe play and play .\nNothing here ."


@pytest.fixture(scope="module")
def layers() -> SentenceLayers:
    return ElmoEncoder.from_pretrained("mini").layers


def test_occurrences_of_either_case_are_compared_in_each_layer(layers: SentenceLayers) -> None:
    answer = senses(layers, TOKENIZE, {"word": " play", "text": TEXT})

    assert answer["num_occurrences"] == 4
    assert [each["position"] for each in answer["occurrences"]] == [1, 1, 1, 3]
    assert answer["occurrences"][1]["words"] == ["The", "Play", "is", "short", "."]
    encoder = ElmoEncoder.from_pretrained("mini", as_numpy=True)
    vectors = numpy.stack(
        [
            encoder([each["words"]])["lstm_outputs2"][0, each["position"]]
            for each in answer["occurrences"]
        ]
    )
    units = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
    top = answer["layers"][2]
    assert top["name"] == "LSTM 2"
    numpy.testing.assert_allclose(top["cosines"], units @ units.T, atol=2e-4)
    # Two dimensions cannot stretch the distance of two points, and keep most of it.
    points = numpy.array(top["points"])
    assert numpy.linalg.norm(points[0] - points[1]) <= numpy.linalg.norm(units[0] - units[1]) + 1e-3
    assert numpy.abs(points.mean(axis=0)).max() < 1e-3


def test_words_of_the_text_are_ranked_in_layer_0_without_the_word_itself(
    layers: SentenceLayers,
) -> None:
    answer = senses(layers, TOKENIZE, {"word": "play", "text": TEXT})

    words, cosines = zip(*answer["similar"])
    assert "play" not in words and len(words) == 8
    assert list(cosines) == sorted(cosines, reverse=True)


def test_a_line_is_computed_once_for_the_first_hundred_occurrences(layers: SentenceLayers) -> None:
    read: list[list[str]] = []

    class Counted(SentenceLayers):
        def __call__(self, sentences: Any, progress: Any = None) -> Iterator[torch.Tensor]:
            read.extend(lines := list(sentences))
            return super().__call__(lines, progress)

    answer = senses(
        Counted(layers.bilm), TOKENIZE, {"word": "play", "text": "play " * 100 + "\nWe play ."}
    )

    assert answer["num_occurrences"] == 101 and [len(line) for line in read] == [100]
    assert len(answer["occurrences"]) == len(answer["layers"][0]["points"]) == 100
