import json
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest

import elmo_tasks
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.load import Answer, LoadedModel, UnansweredError
from tests.helpers.archives import classifier, task_model
from tests.helpers.hostile_weights import overflow


def loaded(folder: Path, task: str) -> LoadedModel:
    return elmo_tasks.load(task_model(folder, task, "input"))


@pytest.fixture(scope="module")
def sst(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return loaded(tmp_path_factory.mktemp("sst"), "sst")


@pytest.fixture(scope="module")
def ner(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return loaded(tmp_path_factory.mktemp("ner"), "ner")


def test_one_text_has_one_answer(sst: LoadedModel) -> None:
    answer = sst.predict("It isn't bad.")

    expected = sst.predictor.predict_json({"sentence": "It isn't bad."})
    assert answer.label == answer["label"] == expected["label"]
    assert answer.probabilities == pytest.approx(expected["probabilities"])
    assert json.loads(json.dumps(answer)) == answer


def test_finite_weights_that_overflow_give_no_answer(
    sst: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    overflow(sst.predictor._model, monkeypatch)

    with pytest.raises(ValueError, match="not finite"):
        sst.predict("It isn't bad.")


def test_control_characters_of_labels_are_escaped_in_text(
    sst: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sst.predictor, "readable", lambda answer: [answer["label"]])

    assert sst.predictor.dump_text({"label": "\x1b[2Ja\nb"}) == "\\x1b[2Ja\\nb\n"


def test_all_ways_to_ask_have_the_same_answer(sst: LoadedModel) -> None:
    expected = sst.predict("A film .")

    for answer in (
        sst.predict({"sentence": "A film ."}),
        sst.predict(sentence="A film ."),
        sst.predict(tokens=["A", "film", "."]),
        *sst.predict(["A film .", {"tokens": ["A", "film", "."]}], batch_size=1),
        *sst.predict(text for text in ["A film ."]),
    ):
        assert answer.tokens == expected.tokens
        assert answer.probabilities == pytest.approx(expected.probabilities, abs=1e-6)
    assert sst.predict([]) == []


def test_answers_within_an_answer_have_attributes(ner: LoadedModel) -> None:
    answer = ner.predict("Mary lives in York.")

    assert answer.entities
    assert all(entity.text in answer.sentence for entity in answer.entities)
    with pytest.raises(AttributeError, match="the answer has no label; it has sentence, tokens"):
        _ = answer.label


def test_a_model_of_two_texts_is_asked_by_their_names(tmp_path: Path) -> None:
    model = loaded(tmp_path, "snli")
    texts = {"premise": "A girl sleeps.", "hypothesis": "A girl is awake."}

    answer = model.predict(**texts)  # type: ignore[arg-type]

    (same,) = model.predict([texts])
    assert answer == same and isinstance(answer, Answer)
    with pytest.raises(ValueError, match="reads an object with premise and hypothesis, not 'A g"):
        model.predict("A girl sleeps.")


def test_inputs_share_texts_and_settings(tmp_path: Path) -> None:
    model = loaded(tmp_path, "squad")
    passage, questions = "The owl sleeps. " * 150, ["Who sleeps?", "When does it?"]

    answers = model.predict(questions, passage=passage, top_k=2)

    expected = [{"passage": passage, "question": each, "top_k": 2} for each in questions]
    assert answers == model.predict(expected) and [len(each.best) for each in answers] == [2, 2]
    assert answers[0] == model.predict(questions[0], passage=passage, top_k=2)
    assert answers == [
        model.predict({"question": each}, passage=passage, top_k=2) for each in questions
    ]
    with pytest.raises(ValueError, match="inputs.1.: the input has its own passage, but"):
        model.predict([questions[0], expected[0]], passage=passage)


# What `predict` is called with, and words of the message.
REFUSED: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((), {}, "give either inputs, or one input"),
    (("A film.",), {"sentence": "A film."}, "give either inputs, or one input"),
    (("A film.",), {"sentense": "A film."}, "takes no sentense for all inputs; .*sentence"),
    ((["A film.", 3],), {}, "reads a text or an object with sentence, not 3"),
    ((5,), {}, "reads a text or an object with sentence, not 5"),
    ((b"5",), {}, "reads a text or an object with sentence, not b'5'"),
    (("",), {}, "there is no word in"),
    ((pandas.DataFrame({"sentence": ["A film."]}),), {}, "a DataFrame.*give one column: table"),
    (({"A film.", "Dull."},), {}, "expected a list of texts or objects, not a set, which has"),
    ((["A film."],), {"batch_size": 0}, "batch_size must be 1 or more, not 0"),
]


@pytest.mark.parametrize(("asked", "named", "message"), REFUSED)
def test_what_cannot_be_asked_is_refused(
    sst: LoadedModel, asked: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        sst.predict(*asked, **named)


def test_an_array_and_a_column_of_a_table_are_lists(sst: LoadedModel) -> None:
    texts = ["A film.", "Dull."]

    assert [sst.predict(of(texts)) for of in (numpy.array, pandas.Series)] == [
        sst.predict(texts)
    ] * 2


def test_the_others_of_several_inputs_have_answers(sst: LoadedModel) -> None:
    asked = ["A film.", "", 5, "Dull."]

    with pytest.raises(ValueError) as caught:
        sst.predict(asked)

    assert isinstance(caught.value, UnansweredError)
    assert str(caught.value) == (
        "inputs[1]: there is no word in the sentence; 2 of 4 inputs have no answer; the error's "
        "`answers` has the answers to the others"
    )
    first, empty, number, last = caught.value.answers
    for answer, same in zip((first, last), sst.predict(["A film.", "Dull."])):
        assert answer.tokens == same.tokens
        assert answer.probabilities == pytest.approx(same.probabilities, abs=1e-6)
    assert str(empty) == "there is no word in the sentence"
    assert str(number) == "this model reads a text or an object with sentence, not 5"


def test_a_model_of_allennlps_is_loaded_too(tmp_path: Path) -> None:
    model = elmo_tasks.load(classifier(tmp_path))

    assert model.predict({"sentence": "the dog saw a cat"}).label in ("even", "odd")
    with pytest.raises(ValueError, match="reads an object with the keys of its predictor, not 'a"):
        model.predict("a cat")


def test_a_model_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="there is no file or folder nothing, and no mod"):
        elmo_tasks.load("nothing")
    with pytest.raises(AttributeError, match="module 'elmo_tasks' has no attribute 'lod'"):
        elmo_tasks.lod  # noqa: B018
