from typing import Any

import pytest

from elmo_tasks.scoring.language_model import LanguageModel
from elmo_tasks.serve.word_bits import word_bits
from tests.helpers.language_models import random_model


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return random_model()


def test_a_sentence_has_the_bits_and_the_likely_words_of_each_token(model: LanguageModel) -> None:
    answer = word_bits(model, {"sentence": "the zebra saw a dog."})

    [score] = model.score(["the zebra saw a dog ."])
    assert answer["tokens"] == score.tokens and answer["known"] == score.known
    assert answer["forward"] == pytest.approx((-score.forward / 0.693147).tolist(), abs=1e-3)
    assert answer["backward"] == pytest.approx((-score.backward / 0.693147).tolist(), abs=1e-3)
    assert answer["likely"][2] == model.fill(score.tokens, 2, k=5)
    assert len(answer["likely"]) == 6


@pytest.mark.parametrize(
    "inputs, message",
    [
        ({"sentence": ""}, "1 to 50 tokens, not 0"),
        ({"sentence": "a " * 51}, "1 to 50 tokens, not 51"),
        ({"sentence": 1}, "expected"),
        ({"text": "a"}, "expected"),
        (["a"], "expected"),
    ],
)
def test_what_is_no_sentence_is_refused(model: LanguageModel, inputs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        word_bits(model, inputs)
