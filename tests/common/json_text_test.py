import json
from typing import Any

import pytest

from elmo_tasks.common.json_text import parse_json


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    return depth * opening + "1" + depth * closing


@pytest.mark.parametrize("value", [1, "[" * 200, {"a": [1, {"b": None}]}, 150 * [[]]])
def test_json_is_parsed_as_by_python(value: Any) -> None:
    assert parse_json(json.dumps(value)) == parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_json_may_be_nested_100_deep_and_no_deeper(opening: str, closing: str) -> None:
    deepest = nested(100, opening, closing)
    assert parse_json(deepest) == json.loads(deepest)

    for depth in (101, 990, 100_000):
        for text in (nested(depth, opening, closing), nested(depth, opening, closing).encode()):
            with pytest.raises(ValueError, match="^the JSON is nested more than 100 deep$"):
                parse_json(text)


def test_half_of_a_surrogate_pair_is_refused() -> None:
    assert parse_json(r'["\ud83d\ude00", "\u00e9"]') == ["\U0001f600", "é"]

    for text in (r'{"a": "x\ud800"}', r'["\ude00"]', rb'"\uD83D"'):
        with pytest.raises(ValueError, match=r"^'\\ud[0-9a-f]{3}' is half of a surrogate pair"):
            parse_json(text)
