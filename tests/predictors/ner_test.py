from typing import Any

import pytest

from elmo_tasks.predictors.ner import NerPredictor
from elmo_tasks.readers.entities import Entity
from tests.helpers.archives import task_predictor


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> NerPredictor:
    return task_predictor(tmp_path_factory.mktemp("ner"), "ner")


def with_settings(predictor: NerPredictor, **settings: Any) -> NerPredictor:
    return NerPredictor(predictor._model, predictor._dataset_reader, **settings)


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
    assert answer == {"sentence": text, "tokens": tokens, "tags": tags, "entities": entities}


def test_paths_on_request_are_the_best_with_their_probabilities(predictor: NerPredictor) -> None:
    asked = {"sentence": "Oslo left Lisbon."}
    answer = with_settings(predictor, top_k=3).predict_json(asked)

    paths = answer["paths"]
    probabilities = [path["probability"] for path in paths]
    assert len(paths) == 3 and paths[0]["tags"] == answer["tags"]
    assert paths[0]["entities"] == [
        {name: value for name, value in entity.items() if name != "confidence"}
        for entity in answer["entities"]
    ]
    assert probabilities == sorted(probabilities, reverse=True)
    assert probabilities[2] > 0 and sum(probabilities) <= 1
    # No entity is less probable than a path that has it.
    for entity in answer["entities"]:
        assert entity["confidence"] >= probabilities[0] - 1e-9
    assert "paths" not in predictor.predict_json(asked)


def test_in_text_the_entities_are_marked_in_the_sentence_or_in_each_path(
    predictor: NerPredictor,
) -> None:
    predictor = with_settings(predictor, format="text")
    entities = [
        {"type": "PER", "text": "Zoë", "characters": [0, 3]},
        {"type": "", "text": "Malmö", "characters": [13, 18]},
    ]
    answer = {"sentence": "Zoë sings in\nMalmö.", "entities": entities}
    paths = [
        {"probability": 0.75, "entities": entities[:1]},
        {"probability": 0.125, "entities": []},
    ]

    assert predictor.dump_line(answer) == "[PER Zoë] sings in [Malmö].\n"
    assert predictor.dump_line({**answer, "paths": paths}) == (
        "0.7500 [PER Zoë] sings in Malmö.\n0.1250 Zoë sings in Malmö.\n"
    )
