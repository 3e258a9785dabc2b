from typing import Any

import numpy
import pytest
import torch
from allennlp.data.token_indexers.elmo_indexer import ELMoCharacterMapper
from allennlp.modules.elmo import batch_to_ids
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_tasks.common.characters import (
    NUM_CHARACTERS,
    batch_char_ids,
    fitted_char_ids,
    num_characters,
    word_char_ids,
)
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.bilm_examples import WORDS

words = st.one_of(st.sampled_from(WORDS), st.text(max_size=60))
sentences = st.lists(st.lists(words, min_size=1, max_size=5), min_size=1, max_size=4)


# Half of a pair of surrogates, as JSON may have it, has no bytes in UTF-8.
@example(word="bo\ud800at")
@given(word=words)
def test_char_ids_of_a_word_are_allennlps(word: str) -> None:
    expected = ELMoCharacterMapper().convert_word_to_char_ids(word)

    assert word_char_ids(word) == expected
    assert max(expected) < NUM_CHARACTERS


@given(batches=st.lists(sentences, max_size=4))
def test_char_ids_of_a_batch_are_allennlps(batches: list[list[list[str]]]) -> None:
    for batch in batches:
        assert torch.equal(batch_char_ids(batch), batch_to_ids(batch))


@pytest.mark.parametrize("max_characters", [5, 60])
def test_a_token_has_as_many_characters_as_the_options_say(max_characters: int) -> None:
    char_ids = word_char_ids("boat", max_characters)

    assert len(char_ids) == max_characters
    # At least the mark for the beginning and three letters fit.
    assert char_ids[:4] == [259, *(ord(letter) + 1 for letter in "boa")]
    assert batch_char_ids([["boat"]], max_characters).tolist() == [[char_ids]]


@pytest.mark.parametrize("sentences", [[], [[]], [[], []]], ids=str)
def test_a_batch_without_tokens_has_no_length(sentences: list[list[str]]) -> None:
    assert batch_char_ids(sentences).shape == (len(sentences), 0, 50)


def test_a_sentence_without_tokens_is_padding() -> None:
    assert batch_char_ids([[], ["boat"]]).tolist() == [[[0] * 50], [word_char_ids("boat")]]


def test_the_tokens_of_a_sentence_may_be_an_array() -> None:
    sentences = [["boat", "b"], ["a"]]
    arrays: Any = [numpy.array(words) for words in sentences]

    assert torch.equal(batch_char_ids(arrays), batch_to_ids(sentences))


@given(sentences=st.lists(st.lists(words, max_size=4), max_size=3), most=st.integers(3, 256))
def test_char_ids_of_whole_words_are_cut_to_any_number(sentences: Any, most: int) -> None:
    whole = batch_char_ids(sentences, num_characters(sentences))

    assert torch.equal(fitted_char_ids(whole, most), batch_char_ids(sentences, most))
    longest = max((len(word.encode()) for words in sentences for word in words), default=0)
    assert whole.size(2) == (50 if longest < 48 else min(longest + 3, 256))


@given(sentences=sentences, width=st.integers(3, 60), most=st.integers(3, 80))
def test_char_ids_that_may_lack_a_byte_are_refused(sentences: Any, width: int, most: int) -> None:
    sizes = [len(word.encode()) for words in sentences for word in words if word != "<S>"]
    longest, char_ids = max(sizes, default=0), batch_char_ids(sentences, width)

    if width < most and longest + 2 >= width:
        with pytest.raises(ConfigurationError):
            fitted_char_ids(char_ids, most)
    else:
        assert torch.equal(fitted_char_ids(char_ids, most), batch_char_ids(sentences, most))
