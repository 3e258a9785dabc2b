from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.data import DatasetReader, Token
from allennlp.predictors import Predictor

from elmo_tasks.predictors.inputs import check_texts, joined_tokens, sentence_input
from elmo_tasks.predictors.language_model import LanguageModelPredictor
from elmo_tasks.predictors.ner import NerPredictor
from elmo_tasks.predictors.snli import SnliPredictor
from elmo_tasks.predictors.squad import SquadPredictor
from elmo_tasks.predictors.sst import SstPredictor
from elmo_tasks.readers.sentences import SentencesReader
from elmo_tasks.readers.snli import SnliReader
from elmo_tasks.readers.squad import SquadReader
from elmo_tasks.readers.sst import SstReader
from elmo_tasks.readers.tag import TagReader

PREDICTORS: dict[str, tuple[type[Predictor], Callable[[], DatasetReader]]] = {
    "sst": (SstPredictor, SstReader),
    "ner": (NerPredictor, TagReader.of_entities),
    "language_model": (LanguageModelPredictor, SentencesReader),
    "snli": (SnliPredictor, SnliReader),
    "squad": (SquadPredictor, SquadReader),
}
SENTENCE = "expected .*sentence.* or .*tokens.*, but got"
PAIR = "expected .*premise.*hypothesis.*, but got"
QUESTION = "expected .*passage.* or a whole file.*, but got"

NO_SENTENCE: tuple[str, list[Any]] = (
    SENTENCE,
    [
        {},
        {"text": "Fine."},
        {"sentence": ["Fine", "."]},
        {"sentence": "Fine.", "tokens": ["Fine", "."]},
        {"tokens": "Fine."},
        {"tokens": ["Fine", 1]},
        {"tokens": ["Fine", ""]},
    ],
)

# The message of each predictor and inputs that it refuses.
OTHERS: dict[str, tuple[str, list[Any]]] = {
    "sst": NO_SENTENCE,
    "ner": NO_SENTENCE,
    "language_model": (
        SENTENCE,
        [
            {},
            {"text": "the dog"},
            {"sentence": ["the", "dog"]},
            {"sentence": None},
            {"sentence": "the dog", "tokens": ["the", "dog"]},
            {"sentence": "the dog", "top_k": 5},
            {"tokens": "the dog"},
            {"tokens": ["the", 1]},
            {"tokens": ["the", ""]},
        ],
    ),
    "snli": (
        PAIR,
        [
            {},
            {"premise": "A cat."},
            {"sentence1": "A cat.", "sentence2": "A dog."},
            {"premise": "A cat.", "hypothesis": ["A", "dog"]},
        ],
    ),
    "squad": (
        QUESTION,
        [
            {},
            {"passage": "It opened in 1998."},
            {"passage": "It opened in 1998.", "question": ["When", "?"]},
            {"passage": None, "question": "When?"},
            ["When?"],
        ],
    ),
}


class NoModel(torch.nn.Module):
    """Has what predictors ask of a model before they have matched their input, and no more."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.softmax = SimpleNamespace(num_classes=20)


def make_predictor(task: str) -> Predictor:
    predictor, make_reader = PREDICTORS[task]
    return predictor(NoModel(), make_reader())  # type: ignore[arg-type]


def cut_at_blanks(text: str) -> list[Token]:
    return [Token(word) for word in text.split()]


def test_a_sentence_is_cut_by_the_tokenizer() -> None:
    text, tokens = sentence_input({"sentence": " It is\tfine "}, cut_at_blanks)

    assert text == " It is\tfine "
    assert [token.text for token in tokens] == ["It", "is", "fine"]


def test_tokens_are_taken_as_they_are_with_a_blank_between_them() -> None:
    words = ["It", "isn't", "7\u00a03/4"]

    text, tokens = sentence_input({"tokens": words}, cut_at_blanks)

    assert text == "It isn't 7\u00a03/4"
    assert [token.text for token in tokens] == words
    assert [text[token.idx : token.idx_end] for token in tokens] == words


def test_of_no_words_there_are_no_tokens() -> None:
    assert joined_tokens([]) == []


@pytest.mark.parametrize("form", [{"sentence": "It is"}, {"tokens": ["It", "is"]}])
@pytest.mark.parametrize("given", [(), ("place",), ("top_k", "place")])
def test_an_option_may_stand_beside_a_sentence_with_those_before_it(
    form: dict[str, Any], given: tuple[str, ...]
) -> None:
    inputs = {**form, **dict.fromkeys(given, 1)}

    text, _ = sentence_input(inputs, cut_at_blanks, options=("place", "top_k"))

    assert text == "It is"


def test_an_option_without_those_before_it_is_refused() -> None:
    expected = r', optionally with "place" or with "place" and "top_k", but got'

    with pytest.raises(ValueError, match=expected):
        sentence_input({"sentence": "It is", "top_k": 1}, cut_at_blanks, ("place", "top_k"))


def test_texts_with_a_word_each_are_accepted() -> None:
    check_texts({"premise": "A cat.", "hypothesis": "."}, ("premise", "hypothesis"))


@pytest.mark.parametrize(
    ("task", "inputs"), [(task, inputs) for task in OTHERS for inputs in OTHERS[task][1]]
)
def test_other_input_is_refused_with_what_was_got(task: str, inputs: Any) -> None:
    predictor = make_predictor(task)

    with pytest.raises(ValueError, match=OTHERS[task][0]) as error:
        predictor.predict_json(inputs)

    assert repr(inputs) in str(error.value)


@pytest.mark.parametrize("task", ["sst", "ner", "language_model"])
@pytest.mark.parametrize("inputs", [{"sentence": ""}, {"sentence": " \n"}, {"tokens": []}])
def test_a_sentence_without_a_word_is_refused(task: str, inputs: Any) -> None:
    predictor = make_predictor(task)

    with pytest.raises(ValueError, match="there is no word in"):
        predictor.predict_batch_json([{"sentence": "the dog"}, inputs])


@pytest.mark.parametrize(
    ("task", "names"), [("snli", ("premise", "hypothesis")), ("squad", ("passage", "question"))]
)
@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("text", ["", " \n\u00a0"])
def test_a_text_without_a_word_is_refused_with_its_name(
    task: str, names: tuple[str, str], index: int, text: str
) -> None:
    predictor = make_predictor(task)
    inputs = {**dict.fromkeys(names, "It opened in 1998."), names[index]: text}

    with pytest.raises(ValueError, match=f"there is no word in the {names[index]}"):
        predictor.predict_json(inputs)


def test_of_a_long_text_the_first_characters_are_shown() -> None:
    with pytest.raises(ValueError) as error:
        check_texts({"premise": "word " * 1000}, ("premise", "hypothesis"))

    assert len(str(error.value)) < 300


@pytest.mark.parametrize("inputs", [{"sentence": "a \ud800"}, {"tokens": ["a", "\ud800"]}])
def test_half_of_a_surrogate_pair_is_refused(inputs: dict) -> None:
    with pytest.raises(ValueError, match="is half of a surrogate pair, and no character"):
        sentence_input(inputs, lambda text: [Token(text)])
