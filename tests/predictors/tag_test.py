import re
from pathlib import Path

import pytest
import torch
from allennlp.models import load_archive

from elmo_tasks.analysis.errors.compare_answers import read_cases
from elmo_tasks.analysis.errors.markdown import markdown
from elmo_tasks.analysis.errors.report import error_report
from elmo_tasks.predictors.tag import NerPredictor
from elmo_tasks.readers.entities import Entity
from tests.helpers.archives import ROOT, task_model, task_predictor

FIXTURE = ROOT / "fixtures" / "tag.conllu"


def test_a_model_of_spans_is_one_of_entities(tmp_path: Path) -> None:
    spans = task_predictor(tmp_path, "tag", change="{ column: 'misc', spans: true }")

    answer = spans.predict_json({"text": "Marta left."})

    assert answer["sentence"] == "Marta left."
    assert all(entity["type"] == "NAME" for entity in answer["entities"])


def test_an_explanation_is_of_one_token_even_if_the_model_has_the_tag_o(tmp_path: Path) -> None:
    chunks = task_predictor(tmp_path, "tag", change="{ column: 'misc' }")
    assert "O" in chunks._model.vocab.get_token_to_index_vocabulary("labels")
    instance = chunks._json_to_instance({"text": "Marta left."})
    outputs = {"tags": ["O", "O", "O"]}

    labelled = chunks.predictions_to_labeled_instances(instance, outputs)

    indices = []
    for each in labelled:
        each["tags"].index(chunks._model.vocab)
        indices.append(each["tags"].as_tensor(each["tags"].get_padding_lengths()))
    assert (torch.stack(indices) >= 0).equal(torch.eye(3).bool())


def test_errors_are_shown_for_each_tag(tmp_path: Path) -> None:
    tags = load_archive(task_model(tmp_path, "tag", "baseline"))
    compared = read_cases(tags, str(FIXTURE))

    report = error_report("mine", "data", compared)
    text = markdown(report)

    right = sum(claim.is_right for case in compared.cases for claim in case.claims)
    total = sum(case.num_tokens for case in compared.cases)
    assert "## By type" in text and re.search(r"\| NOUN +\|", text)
    assert report["score"] == pytest.approx(right / total)


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> NerPredictor:
    return task_predictor(tmp_path_factory.mktemp("ner"), "ner")


def test_entities_of_raw_text_have_their_tokens_and_characters(
    predictor: NerPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens, tags = "Zoë Ågren sings in Malmö".split(), "B-PER L-PER O O U-LOC".split()
    found = {"entities": [Entity("PER", 0, 2), Entity("LOC", 4, 5)], "confidences": [0.9, 0.5]}
    output = {"tokens": tokens, "tags": tags, **found}
    monkeypatch.setattr(predictor, "outputs", lambda instances: [output for _ in instances])
    text = "  Zoë Ågren sings\tin Malmö"

    answer = predictor.predict_json({"sentence": text})

    person = {"type": "PER", "text": "Zoë Ågren", "tokens": [0, 2], "characters": [2, 11]}
    place = {"type": "LOC", "text": "Malmö", "tokens": [4, 5], "characters": [21, 26]}
    entities = [{**person, "confidence": 0.9}, {**place, "confidence": 0.5}]
    # The model tags in BIOUL, but its training data are in IOB1.
    in_iob1 = "I-PER I-PER O O I-LOC".split()
    assert answer == {"sentence": text, "tokens": tokens, "tags": in_iob1, "entities": entities}
    instance = predictor._json_to_instance({"tokens": tokens})
    labelled = predictor.predictions_to_labeled_instances(instance, answer)
    assert [each["tags"].labels for each in labelled] == [
        "B-PER L-PER O O O".split(),
        "O O O O U-LOC".split(),
    ]


def test_in_text_the_entities_are_marked_in_the_sentence(predictor: NerPredictor) -> None:
    entities = [
        {"type": "PER", "text": "Zoë", "characters": [0, 3]},
        {"type": "", "text": "Malmö", "characters": [13, 18]},
    ]

    lines = predictor.readable({"sentence": "Zoë sings in\nMalmö.", "entities": entities})

    assert lines == ["[PER Zoë] sings in [Malmö]."]
