from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from elmo_tasks.serve.tools import layer_cosines, word_bits
from tests.helpers.language_models import random_model

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
