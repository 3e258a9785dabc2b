import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

import elmo_tasks
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.load import Answer, LoadedModel
from tests.helpers.archives import classifier, task_model
from tests.helpers.configs import ROOT
from tests.helpers.hostile_weights import overflow


def loaded(folder: Path, task: str, **settings: Any) -> LoadedModel:
    return elmo_tasks.load(task_model(folder, task, "input"), **settings)


@pytest.fixture(scope="module")
def sst(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return loaded(tmp_path_factory.mktemp("sst"), "sst")


@pytest.fixture(scope="module")
def ner(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return loaded(tmp_path_factory.mktemp("ner"), "ner", top_k=2)


def test_a_model_says_what_it_is(sst: LoadedModel) -> None:
    size = sum(parameter.numel() for parameter in sst.predictor._model.parameters())

    assert repr(sst) == f"<LoadedModel: Bcn, {size:,} parameters, reads sentence>"


def test_one_text_has_one_answer(sst: LoadedModel) -> None:
    answer = sst.predict("It isn't bad.")

    expected = sst.predictor.predict_json({"sentence": "It isn't bad."})
    assert answer.label == answer["label"] == expected["label"]
    assert_close(answer, expected)
    assert json.loads(json.dumps(answer)) == answer


def test_finite_weights_that_overflow_give_no_answer(
    sst: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    overflow(sst.predictor._model, monkeypatch)

    with pytest.raises(ValueError, match="the answer has a number that is not finite; the"):
        sst.predict("It isn't bad.")


def test_control_characters_of_labels_are_escaped_in_text(
    sst: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sst.predictor, "format", "text")
    monkeypatch.setattr(sst.predictor, "readable", lambda answer: [answer["label"]])

    assert sst.predictor.dump_line({"label": "\x1b[2Ja\nb"}) == "\\x1b[2Ja\\nb\n"


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
    with pytest.raises(ValueError, match="the batch size must be 1 or more, not 0"):
        sst.predict(["A film ."], batch_size=0)


def test_answers_within_an_answer_have_attributes(ner: LoadedModel) -> None:
    answer = ner.predict("Mary lives in York.")

    assert len(answer.paths) == 2
    assert answer.paths[0].tags == answer.tags
    assert answer.paths[0].probability >= answer.paths[1].probability
    assert all(entity.text in answer.sentence for entity in answer.entities)
    with pytest.raises(AttributeError, match="the answer has no label; it has sentence, tokens"):
        _ = answer.label


@pytest.mark.parametrize(
    ("task", "texts"),
    [
        ("snli", {"premise": "A girl sleeps.", "hypothesis": "A girl is awake."}),
        ("squad", {"passage": "An owl sleeps by day.", "question": "When does it sleep?"}),
    ],
)
def test_a_model_of_two_texts_is_asked_by_their_names(
    tmp_path: Path, task: str, texts: dict[str, str]
) -> None:
    model = loaded(tmp_path, task)

    answer = model.predict(**texts)  # type: ignore[arg-type]

    (same,) = model.predict([texts])
    assert answer == same and isinstance(answer, Answer)
    assert "label" in answer or answer.answer in texts["passage"]
    first, second = texts
    with pytest.raises(ValueError, match=f"reads an object with {first} and {second}, not 'A g"):
        model.predict("A girl sleeps.")


WORDS = st.lists(st.sampled_from("a film of charm , is n't bad Ünïcode 7".split()), min_size=1)


@hypothesis.settings(max_examples=12)
@hypothesis.given(st.lists(WORDS, min_size=1, max_size=6), st.integers(1, 4))
def test_an_answer_does_not_depend_on_its_batch(
    sst: LoadedModel, ner: LoadedModel, sentences: list[list[str]], batch_size: int
) -> None:
    inputs = [{"tokens": words} for words in sentences]

    for model in (sst, ner):
        together = model.predict(inputs, batch_size=batch_size)
        for asked, answer in zip(inputs, together, strict=True):
            assert_close(answer, model.predict(asked))


def assert_close(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_close(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for left, right in zip(one, other):
            assert_close(left, right)
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=1e-5)
    else:
        assert one == other


def test_what_cannot_be_asked_is_refused(sst: LoadedModel) -> None:
    with pytest.raises(ValueError, match="give either inputs, or one input"):
        sst.predict()
    with pytest.raises(ValueError, match="give either inputs, or one input"):
        sst.predict("A film.", sentence="A film.")
    with pytest.raises(ValueError, match="reads a text or an object with sentence, not 3"):
        sst.predict(["A film.", 3])
    for number in (5, b"5"):
        with pytest.raises(ValueError, match="reads a text or an object with sentence, not b?'?5"):
            sst.predict(number)
    with pytest.raises(ValueError, match="there is no word in"):
        sst.predict("")


def test_a_misspelt_parameter_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    archive = task_model(tmp_path, "ner", "input")

    for name, nearest in {"topk": "top_k", "colum": "column", "splt": "split"}.items():
        message = f"elmo_ner has no parameter '{name}'; did you mean '{nearest}'"
        with pytest.raises(ConfigurationError, match=message):
            elmo_tasks.load(archive, **{name: 3})


def test_a_model_of_allennlps_is_loaded_too(tmp_path: Path) -> None:
    model = elmo_tasks.load(classifier(tmp_path))

    assert model.predict({"sentence": "the dog saw a cat"}).label in ("even", "odd")
    with pytest.raises(ValueError, match="reads an object with the keys of its predictor, not 'a"):
        model.predict("a cat")


def test_a_model_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="there is no file or folder nothing, and no mod"):
        elmo_tasks.load("nothing")
    with pytest.raises(ConfigurationError, match=r"mini is a biLM, .*from_pretrained\('mini'\)"):
        elmo_tasks.load("mini")


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'elmo_tasks' has no attribute 'lod'"):
        elmo_tasks.lod  # noqa: B018


def test_the_package_imports_allennlp_only_for_load() -> None:
    script = """
import sys
import elmo_tasks
assert "allennlp" not in sys.modules
sys.modules["allennlp"] = None
elmo_tasks.load
"""
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True
    )

    assert "ImportError: this part of elmo_tasks needs AllenNLP" in result.stderr
