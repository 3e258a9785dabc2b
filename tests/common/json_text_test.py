import json
from typing import Any

import pytest

from elmo_tasks.common.json_text import parse_json


@pytest.mark.parametrize("value", [1, "[" * 200, {"a": [1, {"b": None}]}, 150 * [[]]])
def test_json_is_parsed_as_by_python(value: Any) -> None:
    assert parse_json(json.dumps(value)) == parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("text", [100_000 * "[", 100_000 * '{"a":'])
def test_json_of_any_depth_is_refused_and_ends_no_process(text: str) -> None:
    for each in (text, text.encode()):
        with pytest.raises(ValueError, match="too deep"):
            parse_json(each)


def test_half_of_a_surrogate_pair_is_refused() -> None:
    assert parse_json(r'["\ud83d\ude00", "\u00e9"]') == ["\U0001f600", "é"]

    for text in (r'{"a": "x\ud800"}', r'["\ude00"]', rb'"\uD83D"'):
        with pytest.raises(ValueError, match=r"^'\\ud[0-9a-f]{3}' is half of a surrogate pair"):
            parse_json(text)
