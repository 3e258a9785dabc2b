from typing import Any

import pytest
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
        if "predicate" not in instances[0].fields:
            return [{"predicates": [2, 6]} for _ in instances]
        roles = {2: [("ARG0", 0, 2), ("V", 2, 3), ("ARG1", 3, 5)], 6: [("ARG1", 7, 9)]}
        asked = [each["metadata"]["predicate"] for each in instances]
        return [
            {"predicate": each, "tags": ["O"], "arguments": roles[each], "confidences": [0.5, 1, 0]}
            for each in asked
        ]

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
