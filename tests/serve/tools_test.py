from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import numpy
import pytest
import torch

from elmo_tasks.elmo import ElmoEncoder, SentenceLayers
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from elmo_tasks.serve.tools import layer_cosines, senses, word_bits
from tests.helpers.language_models import random_model
from tests.helpers.languages import CUT_THAI, TEXTS
from tests.helpers.served import app_of, run_server

TOKENIZE = ElmoSpacyTokenizer().tokenize


@pytest.fixture(scope="module")
def encoder() -> ElmoEncoder:
    return ElmoEncoder.from_pretrained("mini", as_numpy=True)


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return random_model()


def test_the_cosines_are_those_of_the_encoders_vectors(encoder: ElmoEncoder) -> None:
    answer = layer_cosines(encoder.layers, TOKENIZE, {"sentence": "They play a play."})

    assert answer["tokens"] == ["They", "play", "a", "play", "."]
    assert answer["layers"] == ["tokens", "LSTM 1", "LSTM 2"]
    outputs = encoder([answer["tokens"]])
    for cosines, name in zip(answer["cosines"], ("word_emb", "lstm_outputs1", "lstm_outputs2")):
        vectors = outputs[name][0].astype("float64")
        units = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
        numpy.testing.assert_allclose(cosines, units @ units.T, atol=2e-4)
    # The token layer ignores the context.
    assert answer["cosines"][0][1][3] == pytest.approx(1)
    assert answer["cosines"][2][1][3] < 0.99


def test_a_sentence_has_the_bits_and_the_likely_words_of_each_token(model: LanguageModel) -> None:
    answer = word_bits(model, TOKENIZE, {"sentence": "the zebra saw a dog."})

    [score] = model.score(["the zebra saw a dog ."])
    assert answer["tokens"] == score.tokens and answer["known"] == score.known
    assert answer["forward"] == pytest.approx((-score.forward / 0.693147).tolist(), abs=1e-3)
    assert answer["backward"] == pytest.approx((-score.backward / 0.693147).tolist(), abs=1e-3)
    assert answer["likely"][2] == model.fill(score.tokens, 2, k=5)
    assert len(answer["likely"]) == 6


def test_what_is_no_short_sentence_is_refused(encoder: ElmoEncoder, model: LanguageModel) -> None:
    tools: list[tuple[Callable[[Any], Any], int]] = [
        (partial(layer_cosines, encoder.layers, TOKENIZE), 100),
        (partial(word_bits, model, TOKENIZE), 50),
    ]
    for tool, limit in tools:
        with pytest.raises(ValueError, match=f"at most {limit} tokens, not {limit + 1}"):
            tool({"sentence": "a " * (limit + 1)})
        with pytest.raises(ValueError, match="expected .*sentence.*, but got"):
            tool({"words": "a"})


TEXT = "They play chess .\nThe Play is short .\n\nWe play and play .\nNothing here ."


def test_occurrences_of_either_case_are_compared_in_each_layer(encoder: ElmoEncoder) -> None:
    answer = senses(encoder.layers, TOKENIZE, {"word": " play", "text": TEXT})

    assert answer["num_occurrences"] == 4
    assert [each["position"] for each in answer["occurrences"]] == [1, 1, 1, 3]
    assert answer["occurrences"][1]["words"] == ["The", "Play", "is", "short", "."]
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
    # The other words of the text are ranked in layer 0.
    words, cosines = zip(*answer["similar"])
    assert "play" not in words and len(words) == 8
    assert list(cosines) == sorted(cosines, reverse=True)


def test_a_line_is_computed_once_for_the_first_hundred_occurrences(encoder: ElmoEncoder) -> None:
    read: list[list[str]] = []

    class Counted(SentenceLayers):
        def of_tokens(self, sentences: Any, progress: Any = None) -> Iterator[torch.Tensor]:
            read.extend(lines := list(sentences))
            return super().of_tokens(lines, progress)

    answer = senses(
        Counted(encoder.layers.bilm),
        TOKENIZE,
        {"word": "play", "text": "play " * 100 + "\nWe play ."},
    )

    assert answer["num_occurrences"] == 101 and [len(line) for line in read] == [100]
    assert len(answer["occurrences"]) == len(answer["layers"][0]["points"]) == 100


@pytest.mark.parametrize("language", [*TEXTS, "th"])
def test_the_tabs_have_the_tokens_of_the_language(language: str) -> None:
    # Thai is cut already, so that rules of any language find its words.
    text, sentences = TEXTS.get(language, (CUT_THAI, [CUT_THAI]))
    tokens = " ".join(sentences).split()
    rules = "en" if language == "th" else language

    with run_server(app_of([], language_model=random_model(), language=rules)) as address:
        layers, words = (
            httpx.post(f"{address}/{tab}", json={"sentence": text}).json()
            for tab in ("layers", "words")
        )
        found = httpx.post(f"{address}/senses", json={"word": tokens[0], "text": text}).json()

    assert layers["tokens"] == words["tokens"] == tokens
    assert len(layers["cosines"][2]) == len(words["forward"]) == len(tokens)
    assert found["occurrences"] == [{"words": tokens, "position": 0}]
    similar = {word for word, _ in found["similar"]}
    expected = {word.lower() for word in tokens if word not in ".?。！？؟।"} - {tokens[0].lower()}
    assert similar <= expected and len(similar) == min(8, len(expected))
