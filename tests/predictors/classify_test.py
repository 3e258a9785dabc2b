from pathlib import Path

import pytest
from allennlp.models import Archive, load_archive
from allennlp.predictors import Predictor

from elmo_tasks.analysis.errors.compare_answers import read_cases
from elmo_tasks.analysis.errors.markdown import markdown
from elmo_tasks.analysis.errors.report import error_report
from elmo_tasks.predictors.load import LoadedModel
from tests.helpers.archives import ROOT, task_model, task_predictor

TEXTS = ["The soup came cold. Twice!", "She sang."]
FIXTURE = ROOT / "fixtures" / "classify.csv"


def load(folders: pytest.TempPathFactory, change: str = "{}") -> Archive:
    return load_archive(task_model(folders.mktemp("model"), "classify", "baseline", change))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return load(tmp_path_factory)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return load(tmp_path_factory, "{ separator: ';' }")


def test_a_text_and_its_words_have_the_label_and_the_probability_of_each(archive: Archive) -> None:
    predictor = Predictor.from_archive(archive)

    answer = predictor.predict_json({"text": TEXTS[0]})

    assert predictor.predict_json({"tokens": answer["tokens"]}) == answer
    assert answer["tokens"] == ["The", "soup", "came", "cold", ".", "Twice", "!"]
    assert sorted(answer["probabilities"]) == ["food", "music", "travel"]
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    assert answer["label"] == max(answer["probabilities"], key=answer["probabilities"].get)


def test_several_labels_are_answered_in_the_order_of_their_probability(several: Archive) -> None:
    predictor = Predictor.from_archive(several)
    answer = predictor.predict_json({"text": TEXTS[0]})

    (line,) = predictor.readable(answer)  # type: ignore[attr-defined]

    expected = sorted(answer["labels"], key=answer["probabilities"].get, reverse=True)
    assert answer["labels"] == expected
    assert line.split("\t")[: 2 * len(expected) : 2] == expected


def test_two_texts_are_asked_by_the_names_of_their_columns(tmp_path: Path) -> None:
    change = "{ texts: ['text', 'id'] }"
    model = LoadedModel(task_predictor(tmp_path, "classify", change=change))

    assert model.predict(text=TEXTS[0], id="7").label in ("food", "music", "travel")
    with pytest.raises(ValueError, match='"text": "raw text", "id": "raw text"'):
        model.predict(text=TEXTS[0])


def test_errors_are_those_of_classes_or_of_labels(archive: Archive, several: Archive) -> None:
    compared = [read_cases(each, str(FIXTURE)) for each in (archive, several)]

    one, more = (markdown(error_report("mine", "data", each)) for each in compared)

    assert "## Which class is taken for which" in one and "10 cases; accuracy" in one
    assert "## By type" in more and "10 cases; F1" in more
