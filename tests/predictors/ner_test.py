import pytest

from elmo_tasks.predictors.ner import NerPredictor
from elmo_tasks.readers.entities import Entity
from tests.helpers.archives import task_predictor


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
    assert answer == {"sentence": text, "tokens": tokens, "tags": tags, "entities": entities}


def test_in_text_the_entities_are_marked_in_the_sentence(predictor: NerPredictor) -> None:
    entities = [
        {"type": "PER", "text": "Zoë", "characters": [0, 3]},
        {"type": "", "text": "Malmö", "characters": [13, 18]},
    ]

    lines = predictor.readable({"sentence": "Zoë sings in\nMalmö.", "entities": entities})

    assert lines == ["[PER Zoë] sings in [Malmö]."]
