"""What a list of sentences is, at every door of the package that takes one."""

import math
import warnings
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy
import pandas
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.elmo import Elmo, ElmoEncoder
from elmo_tasks.elmo.sentences import sentences_of, tokens_of
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.scoring.scores import Perplexity
from elmo_tasks.sklearn import ElmoFeatures
from tests.helpers.language_models import random_model
from tests.helpers.reference_bilm import FIXTURE

Arrays = list[numpy.ndarray]
# A function that takes a list of sentences. Returns an array for each.
Door = Callable[[Any], Arrays]

MODEL: LanguageModel = random_model()
ENCODER = ElmoEncoder.from_pretrained(FIXTURE)
ELMO = Elmo(FrozenBiLm.of(ENCODER.bilm)).eval()
FEATURES = ElmoFeatures(str(FIXTURE))


def of_rows(padded: torch.Tensor, mask: torch.Tensor) -> Arrays:
    return [row[tokens].detach().numpy() for row, tokens in zip(padded, mask)]


def of_encoder(sentences: Any) -> Arrays:
    outputs = ENCODER(sentences)
    return of_rows(outputs["elmo"], outputs["mask"])


def perplexity_of_all(sentences: Any) -> Arrays:
    total = MODEL.perplexity(sentences)
    return [numpy.array([total.forward, total.backward, total.num_tokens, total.num_sentences])]


DOORS: dict[str, Door] = {
    "encoder": of_encoder,
    "iterate": lambda given: [each["elmo"].numpy() for each in ENCODER.iterate(given)],
    "vectors": lambda given: [each.numpy() for each in ENCODER.vectors(given)],
    "layers": lambda given: [each.mean(dim=0).numpy() for each in ENCODER.layers(given)],
    "Elmo": lambda given: of_rows(*ELMO(given)),
    "ElmoFeatures": lambda given: list(FEATURES.transform(given)),
    "score": lambda given: [numpy.stack(each[2:4], axis=1) for each in MODEL.score(given)],
    "LanguageModel.iterate": lambda given: [
        numpy.stack(each[2:4], axis=1) for each in MODEL.iterate(given)
    ],
    "perplexity": perplexity_of_all,
}


def expected_at(door: str, sentences: list[list[str]]) -> Arrays:
    """Computes each sentence by itself."""
    if door == "perplexity":
        total = Perplexity()
        for words in sentences:
            [score] = MODEL.score([words])
            total.add(score)
        return [numpy.array([total.forward, total.backward, total.num_tokens, total.num_sentences])]
    return [DOORS[door]([words])[0] for words in sentences]


# Tests of all that is a list of sentences.

WORDS = ["The", "boat", "naïve", "文", "x" * 60, "b"]


def in_an_array(sentences: list[Any]) -> numpy.ndarray:
    array = numpy.empty(len(sentences), object)
    array[:] = sentences
    return array


def padded(sentences: list[list[str]]) -> list[list[str]]:
    longest = max(map(len, sentences), default=0) + 2
    return [[*words, *[""] * (longest - len(words))] for words in sentences]


WRAPPINGS: dict[str, Callable[[list[list[str]]], Iterable[Any]]] = {
    "a list of lists": list,
    "tuples": lambda sentences: tuple(map(tuple, sentences)),
    "a generator": lambda sentences: (words for words in sentences),
    "an array of lists": in_an_array,
    "a series of lists": lambda sentences: pandas.Series(sentences, dtype=object),
    "arrays of tokens": lambda sentences: [numpy.array(words, dtype=str) for words in sentences],
    "padded": padded,
    "mixed": lambda sentences: [
        words if row % 2 else (*words, "") for row, words in enumerate(sentences)
    ],
    "strings": lambda sentences: list(map(" ".join, sentences)),
    "an array of strings": lambda sentences: numpy.array(list(map(" ".join, sentences)), dtype=str),
    "a series of strings": lambda sentences: pandas.Series(
        list(map(" ".join, sentences)), dtype=str
    ),
    "lines": lambda sentences: (f"\t{'  '.join(words)} \r\n" for words in sentences),
}


@pytest.mark.parametrize("door", DOORS)
# There are nine doors, so each wrapping is drawn several times.
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sentences=st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=6),
    wrapping=st.sampled_from(sorted(WRAPPINGS)),
)
def test_sentences_are_the_same_in_every_wrapping_at_every_door(
    door: str, sentences: list[list[str]], wrapping: str
) -> None:
    found = DOORS[door](WRAPPINGS[wrapping](sentences))

    for one, other in zip(found, expected_at(door, sentences), strict=True):
        numpy.testing.assert_allclose(one, other, atol=1e-5, rtol=1e-4)


def test_a_token_may_have_a_no_break_space() -> None:
    assert list(sentences_of([["10\xa0000", "boats"]])) == [["10\xa0000", "boats"]]


# Tests of what is no list of sentences. Each has the words that all doors say.

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "one string": (lambda: "The boat left", "list of sentences, .*, not one string: 'The boat le"),
    "bytes": (lambda: b"The boat", "not bytes: b'The boat'; decode them"),
    "a table": (
        lambda: pandas.DataFrame({"text": ["The boat"]}),
        "not a DataFrame, which gives the names of its columns; give one column",
    ),
    "a dictionary": (lambda: {"a": "The boat"}, "not a dict: .*; give a list of its texts"),
    "a set": (lambda: {"The boat"}, "not a set, which has no order"),
    "an array of two dimensions": (
        lambda: numpy.array([["The", "boat"], ["It", ""]]),
        "not a ndarray of 2 dimensions; give one column, such as array",
    ),
    "an array of no dimension": (lambda: numpy.array("The boat"), "a ndarray of 0 dimensions"),
    "nothing": (lambda: None, "each a string or a list of tokens, not None"),
    "a number": (lambda: 3, "each a string or a list of tokens, not 3"),
    "numbers": (lambda: [3], "sentence 0 must be a string or a list of tokens, not 3"),
    "a missing text": (
        lambda: pandas.Series(["The boat", None], dtype=object),
        "sentence 1 must be a string or a list of tokens, not None; leave it out, or give ''",
    ),
    "a missing number": (lambda: ["The boat", math.nan], "sentence 1 must be .*, not nan; leave"),
    "a missing value": (lambda: [pandas.NA], "sentence 0 must be .*, not <NA>; leave it out"),
    "bytes inside": (lambda: ["The boat", b"left"], "sentence 1 must be .* bytes: b'left'; decode"),
    "rows": (lambda: [{"text": "The boat"}], "sentence 0 must be .*, not a dict"),
    "a list of lists of lists": (
        lambda: [[["The", "boat"]]],
        "token 0 of sentence 0 must be a string, not .'The', 'boat'.",
    ),
    "a number for a token": (lambda: [["It", 3]], "token 1 of sentence 0 must be a string, not 3"),
    "a missing token": (lambda: [["It"], ["a", None]], "token 1 of sentence 1 must be a string"),
    "objects with a text": (
        lambda: [[SimpleNamespace(text="The")]],
        "token 0 of sentence 0 must be a string",
    ),
    "padding before a word": (
        lambda: [["The"], ["The", "", "boat", ""]],
        "token 1 of sentence 1 is an empty string, which only pads the end",
    ),
    "a sentence as a token": (
        lambda: [["The boat left"]],
        "token 0 of sentence 0 has white space: 'The boat left'; give a text as a string",
    ),
    "a token of white space": (
        lambda: [["The", " ", "boat"]],
        "token 1 of sentence 0 has white space: ' '; .* leave out tokens of white space",
    ),
    "half an emoji in a token": (
        lambda: [["The", "boat\ud83d"]],
        "token 1 of sentence 0 has half of a surrogate pair: 'boat.ud83d'; mend it",
    ),
    "half an emoji in a text": (
        lambda: ["The boat", "\ude00 left"],
        "sentence 1 has half of a surrogate pair: '.ude00 left'; mend it",
    ),
}


@pytest.mark.parametrize("form", REFUSED)
def test_every_door_refuses_what_is_no_list_of_sentences_in_the_same_words(form: str) -> None:
    make, words = REFUSED[form]
    messages = {}
    for name, door in DOORS.items():
        with pytest.raises(ValueError, match=words) as raised:
            door(make())
        messages[name] = str(raised.value)

    assert len(set(messages.values())) == 1, messages


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (b"The boat", "the sentence must be a string or a list of tokens, not bytes"),
        (["The", "", "boat"], "token 1 of the sentence is an empty string"),
        (["The boat"], "token 0 of the sentence has white space"),
        ([["The", "boat"]], "token 0 of the sentence must be a string"),
        (None, "the sentence must be a string or a list of tokens, not None"),
        ("\ud83d", "the sentence has half of a surrogate pair"),
    ],
)
def test_functions_of_one_sentence_refuse_the_same(sentence: Any, words: str) -> None:
    for door in (
        ENCODER.tokenize,
        MODEL.next_words,
        lambda given: MODEL.fill(given, 0),
        tokens_of,
    ):
        with pytest.raises(ValueError, match=words):
            door(sentence)


def test_functions_of_one_sentence_leave_out_padding() -> None:
    words = ["the", "dog"]

    assert MODEL.next_words([*words, ""], 3) == MODEL.next_words("the dog", 3)
    assert MODEL.fill([*words, "", ""], 1, 3) == MODEL.fill(tuple(words), 1, 3)
    with pytest.raises(ValueError, match="not 2"):
        MODEL.fill([*words, ""], 2, 3)


# Tests of a flat list of words.


@pytest.mark.parametrize("door", DOORS)
def test_ten_words_in_a_row_are_sentences_with_a_warning(door: str) -> None:
    words = "The boat left the bank of the river at ten".split()

    with pytest.warns(UserWarning, match=r"10 sentences in a row .*'ten'; .* one sentence, give"):
        found = DOORS[door](words)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = DOORS[door]([[word] for word in words])
        DOORS[door](words[:9])
        DOORS[door]([*words[:9], "the last", *words[:9]])
    for one, other in zip(found, expected, strict=True):
        numpy.testing.assert_allclose(one, other, atol=1e-5)


# Tests of tokenizers.


@pytest.mark.parametrize("cut", [str.lower, lambda text: 3, lambda text: None, lambda text: [1]])
def test_a_tokenizer_that_returns_no_tokens_is_refused(cut: Any) -> None:
    encoder = ElmoEncoder(ENCODER.bilm, tokenizer=cut)
    features = ElmoFeatures(str(FIXTURE), tokenizer=cut)

    for door in (encoder, encoder.vectors, encoder.iterate, features.transform):
        with pytest.raises(ValueError, match="the tokenizer must return a list of tokens, but ret"):
            list(door(["A boat"]))


def test_white_space_that_a_tokenizer_returns_is_left_out() -> None:
    for cut in (lambda text: text.split(" "), lambda text: ["A", "\n", "boat", "\xa0"]):
        assert ElmoEncoder(ENCODER.bilm, tokenizer=cut).tokenize("A  boat ") == ["A", "boat"]
    with pytest.raises(ValueError, match="token 0 of the sentence has white space: 'A boat'"):
        tokens_of("A boat", lambda text: [text])
