import pytest
from allennlp.models import Archive, load_archive
from allennlp.predictors import Predictor

from elmo_tasks.analysis.errors.markdown import markdown
from elmo_tasks.analysis.errors.read_cases import read_cases
from elmo_tasks.analysis.errors.report import error_report
from tests.helpers.archives import ROOT, task_model

FIXTURE = ROOT / "fixtures" / "tag.conllu"


@pytest.fixture(scope="module")
def tags(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return load_archive(task_model(tmp_path_factory.mktemp("tags"), "tag", "baseline"))


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    change = "{ column: 'misc', spans: true }"
    return load_archive(task_model(tmp_path_factory.mktemp("spans"), "tag", "baseline", change))


def test_a_model_of_spans_is_one_of_entities(spans: Archive) -> None:
    answer = Predictor.from_archive(spans).predict_json({"text": "Marta left."})

    assert answer["sentence"] == "Marta left."
    assert all(entity["type"] == "NAME" for entity in answer["entities"])


def test_errors_are_shown_for_each_tag(tags: Archive) -> None:
    judged = read_cases(tags, str(FIXTURE))

    report = error_report("mine", "data", judged)
    text = markdown(report)

    right = sum(claim.is_right for case in judged.cases for claim in case.claims)
    total = sum(case.num_tokens for case in judged.cases)
    assert "## Tags" in text and "| NOUN  |" in text
    assert report["score"] == pytest.approx(right / total)
