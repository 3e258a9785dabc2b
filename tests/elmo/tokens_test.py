import time

import numpy
import pytest
from allennlp.data.tokenizers import CharacterTokenizer, WhitespaceTokenizer

from elmo_tasks.elmo.tokens import Tokenizer, tokenize, without_padding


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
