from typing import Any

import pytest
from allennlp.models import Archive, load_archive
from allennlp.predictors import Predictor

from elmo_tasks.analysis.errors.markdown import markdown
from elmo_tasks.analysis.errors.read_cases import read_cases
from elmo_tasks.analysis.errors.report import error_report
from elmo_tasks.predictors.load import LoadedModel
from tests.helpers.archives import ROOT, task_model

TEXTS = ["The soup came cold. Twice!", "She sang."]
FIXTURE = ROOT / "fixtures" / "classify.csv"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return load_archive(task_model(tmp_path_factory.mktemp("one"), "classify", "baseline"))


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("several")
    return load_archive(task_model(folder, "classify", "baseline", "{ separator: ';' }"))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("two")
    return load_archive(task_model(folder, "classify", "baseline", "{ texts: ['text', 'id'] }"))


def predictor_of(archive: Archive) -> Any:
    return Predictor.from_archive(archive)


def test_an_answer_has_the_label_and_the_probability_of_each(archive: Archive) -> None:
    answer = predictor_of(archive).predict_json({"text": TEXTS[0]})

    assert answer["tokens"] == ["The", "soup", "came", "cold", ".", "Twice", "!"]
    assert sorted(answer["probabilities"]) == ["food", "music", "travel"]
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    assert answer["label"] == max(answer["probabilities"], key=answer["probabilities"].get)


def test_words_and_raw_text_have_the_same_answer(archive: Archive) -> None:
    predictor = predictor_of(archive)
    raw = predictor.predict_json({"text": TEXTS[0]})

    assert predictor.predict_json({"tokens": raw["tokens"]}) == raw


def test_several_labels_are_answered_in_the_order_of_their_probability(several: Archive) -> None:
    predictor = predictor_of(several)
    answer = predictor.predict_json({"text": TEXTS[0]})

    (line,) = predictor.readable(answer)

    expected = sorted(answer["labels"], key=answer["probabilities"].get, reverse=True)
    assert answer["labels"] == expected
    assert line.split("\t")[: 2 * len(expected) : 2] == expected


def test_two_texts_are_asked_by_the_names_of_their_columns(two: Archive) -> None:
    model = LoadedModel(predictor_of(two))

    assert model.predict(text=TEXTS[0], id="7").label in ("food", "music", "travel")
    with pytest.raises(ValueError, match='"text": "raw text", "id": "raw text"'):
        model.predict(text=TEXTS[0])


def test_errors_are_those_of_classes_or_of_labels(archive: Archive, several: Archive) -> None:
    judged = [read_cases(each, str(FIXTURE)) for each in (archive, several)]

    one, more = (markdown(error_report("mine", "data", each)) for each in judged)

    assert "## Which class is taken for which" in one and "10 cases; accuracy" in one
    assert "## Labels" in more and "10 cases; F1" in more
