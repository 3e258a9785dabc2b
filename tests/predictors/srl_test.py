from typing import Any

import pytest
import torch
from allennlp.common.util import JsonDict
from allennlp.data import Instance

from elmo_tasks.predictors.srl import SrlPredictor
from tests.helpers.archives import task_predictor

TEXT = "The storm broke\ttwo windows and frightened the dog."


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> SrlPredictor:
    return task_predictor(tmp_path_factory.mktemp("srl"), "srl")


def test_predicates_of_raw_text_are_found_and_their_roles_have_tokens_and_characters(
    predictor: SrlPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outputs(instances: list[Instance]) -> list[dict[str, Any]]:
        roles = {2: [("ARG0", 0, 2), ("V", 2, 3), ("ARG1", 3, 5)], 6: [("ARG1", 7, 9)]}
        predicates = [
            {"predicate": index, "tags": ["O"], "arguments": spans, "confidences": [0.5, 1, 0]}
            for index, spans in roles.items()
        ]
        return [{"predicates": predicates} for _ in instances]

    monkeypatch.setattr(predictor, "outputs", outputs)

    answer = predictor.predict_json({"sentence": TEXT})

    assert answer["sentence"] == TEXT
    assert answer["tokens"] == TEXT.replace(".", " .").split()
    broke, frightened = answer["predicates"]
    assert (broke["text"], broke["index"], broke["tags"]) == ("broke", 2, ["O"])
    assert [(role["role"], role["text"], role["confidence"]) for role in broke["roles"]] == [
        ("ARG0", "The storm", 0.5),
        ("V", "broke", 1),
        ("ARG1", "two windows", 0),
    ]
    assert frightened["roles"] == [
        {"role": "ARG1", "text": "the dog", "tokens": [7, 9], "characters": [43, 50]}
        | {"confidence": 0.5}
    ]
    assert predictor.readable(answer) == [
        TEXT.replace("\t", " "),
        "\tbroke\t[ARG0 The storm]\t[V broke]\t[ARG1 two windows]",
        "\tfrightened\t[ARG1 the dog]",
    ]


@pytest.mark.parametrize(
    ("roles", "kept"),
    [
        ({1: [("V", 1, 2)], 2: [("ARG0", 0, 1), ("V", 2, 3)]}, [2]),
        ({1: [("V", 1, 2)], 2: [("V", 2, 3)]}, [1, 2]),
        ({1: []}, [1]),
        ({}, []),
    ],
)
def test_predicates_of_raw_text_without_a_role_are_left_out_if_another_has_one(
    predictor: SrlPredictor,
    monkeypatch: pytest.MonkeyPatch,
    roles: dict[int, list[tuple[str, int, int]]],
    kept: list[int],
) -> None:
    predicates = [
        {"predicate": index, "tags": [], "arguments": spans, "confidences": [1.0] * len(spans)}
        for index, spans in roles.items()
    ]
    monkeypatch.setattr(predictor, "outputs", lambda raw: [{"predicates": predicates} for _ in raw])

    answer = predictor.predict_json({"sentence": TEXT})

    assert [predicate["index"] for predicate in answer["predicates"]] == kept


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"tokens": ["The", "storm", "broke"], "predicates": [1, 2]}, [1, 2]),
        ({"tokens": ["The", "storm", "broke"], "predicates": [2, 1]}, [2, 1]),
        ({"tokens": ["left"], "predicates": []}, []),
    ],
)
def test_predicates_are_those_that_the_user_names_and_may_be_none(
    predictor: SrlPredictor, inputs: JsonDict, expected: list[int]
) -> None:
    predicates = predictor.predict_json(inputs)["predicates"]

    assert [each["index"] for each in predicates] == expected


def test_each_sentence_of_raw_text_is_embedded_once(
    predictor: SrlPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    every_word = torch.nn.Parameter(torch.tensor([-1e6, 1e6]))
    monkeypatch.setattr(predictor._model.predicate_scores[2], "bias", every_word)
    num_read: list[int] = []

    with predictor._model.text_embedder.register_forward_hook(
        lambda _, __, texts: num_read.extend(len(text.mask) for text in texts)
    ):
        answers = predictor.predict_batch_json([{"sentence": TEXT}, {"sentence": "Rain fell."}])

    assert [len(answer["predicates"]) for answer in answers] == [10, 3]
    assert num_read == [2]
