import time

import numpy
import pytest
from allennlp.data.tokenizers import CharacterTokenizer, WhitespaceTokenizer

from elmo_tasks.elmo.tokens import Tokenizer, cut_to_lengths, tokenize, without_padding


def test_a_text_is_by_default_cut_at_blanks() -> None:
    assert tokenize(" It's  na\u00efve !\n") == ["It's", "na\u00efve", "!"]


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        (lambda text: text.split("-"), ["a b", "c"]),
        (lambda text: iter(text.split("-")), ["a b", "c"]),
        (WhitespaceTokenizer(), ["a", "b-c"]),
        (CharacterTokenizer(), ["a", " ", "b", "-", "c"]),
    ],
    ids=["list", "iterator", "allennlp_words", "allennlp_characters"],
)
def test_a_tokenizer_is_a_function_or_an_object_of_allennlp(
    tokenizer: Tokenizer, expected: list[str]
) -> None:
    assert tokenize("a b-c", tokenizer) == expected


def test_tokens_are_not_cut_again() -> None:
    tokens = tokenize(("New York", "", "!"), str.split)

    assert tokens == ["New York", "", "!"]
    assert tokenize(numpy.array(["New York", "!"])) == ["New York", "!"]  # type: ignore[arg-type]


@pytest.mark.parametrize("sentence", [3, None, ["It", 3], [["It"]]], ids=str)
def test_what_is_neither_a_text_nor_tokens_is_refused(sentence: object) -> None:
    with pytest.raises(ValueError, match="a sentence is a string or a list of tokens, not "):
        tokenize(sentence)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], []),
        (["", ""], []),
        (["It", "", ""], ["It"]),
        (["", "It", "", "is"], ["", "It", "", "is"]),
    ],
    ids=str,
)
def test_only_empty_strings_at_the_end_are_padding(words: list[str], expected: list[str]) -> None:
    assert without_padding(words) == expected


def test_much_padding_takes_time_in_proportion() -> None:
    start = time.process_time()

    assert without_padding(["It", *[""] * 60_000]) == ["It"]

    # Linear time is 0.01 s, quadratic time several seconds.
    assert time.process_time() - start < 1


def test_sentences_are_cut_to_their_lengths() -> None:
    assert cut_to_lengths([["a", "b"], ["c", "d"], []], [1, 2, 0]) == [["a"], ["c", "d"], []]


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([1], "got 1 lengths for 2 sentences"),
        ([1, 3], "the length of sentence 1 is 3, but it has 2 tokens"),
        ([-1, 2], "the length of sentence 0 is -1, but it has 1 tokens"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(lengths: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cut_to_lengths([["a"], ["b", "c"]], lengths)
