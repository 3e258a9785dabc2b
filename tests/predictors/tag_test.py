from pathlib import Path

import pytest
from allennlp.models import load_archive

from elmo_tasks.analysis.errors.compare_answers import read_cases
from elmo_tasks.analysis.errors.markdown import markdown
from elmo_tasks.analysis.errors.report import error_report
from tests.helpers.archives import ROOT, task_model, task_predictor

FIXTURE = ROOT / "fixtures" / "tag.conllu"


def test_a_model_of_spans_is_one_of_entities(tmp_path: Path) -> None:
    spans = task_predictor(tmp_path, "tag", change="{ column: 'misc', spans: true }")

    answer = spans.predict_json({"text": "Marta left."})

    assert answer["sentence"] == "Marta left."
    assert all(entity["type"] == "NAME" for entity in answer["entities"])


def test_errors_are_shown_for_each_tag(tmp_path: Path) -> None:
    tags = load_archive(task_model(tmp_path, "tag", "baseline"))
    compared = read_cases(tags, str(FIXTURE))

    report = error_report("mine", "data", compared)
    text = markdown(report)

    right = sum(claim.is_right for case in compared.cases for claim in case.claims)
    total = sum(case.num_tokens for case in compared.cases)
    assert "## By type" in text and "| NOUN  |" in text
    assert report["score"] == pytest.approx(right / total)
