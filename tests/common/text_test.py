import json
import math
from typing import Any

import pytest

from elmo_tasks.common.text import listed, nearest_or_all, parse_data, parse_json, printable


def test_a_misspelt_name_is_answered_with_the_nearest_one_alone() -> None:
    assert nearest_or_all("blim", ["bilm", "store"]) == "; did you mean 'bilm'?"


def test_a_name_like_no_other_is_answered_with_the_names_there_are() -> None:
    assert nearest_or_all("x", ["bilm", "store"]) == "; there are bilm, store"
    assert nearest_or_all("x", []) == "; there are (none)"


def test_a_list_of_many_names_is_short() -> None:
    names = [f"column{number}" for number in range(300)]

    assert listed(names).endswith("column10, column11 and 288 more")
    assert len(listed(names)) < 150


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Łódź\t漢字 👩‍🚀 \xa0.", "Łódź\t漢字 👩‍🚀 \xa0."),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J\x7f\r\n", r"\x9b2J\x7f\r\n"),
        ("\u202eevil\u2066\u2028", r"\u202eevil\u2066\u2028"),
        ("\u200eLOC\u200f\u061c", r"\u200eLOC\u200f\u061c"),
        ("L\u200bO\u2060C\ufeff", r"L\u200bO\u2060C\ufeff"),
        ("LOC\U000e0041\U000e007f", r"LOC\U000e0041\U000e007f"),
        ("L\u200dO\u200cC\u200c", r"L\u200dO\u200cC\u200c"),
        ("L\U000e0101 \ufe0f\ufe0e\ufe0f", "L\\U000e0101 \ufe0f\\ufe0e\\ufe0f"),
        ("\udc80", r"\udc80"),
        # Persian, Hindi, an emoji of three and a Japanese name need theirs.
        (
            "می\u200cخواهم क्\u200dष ❤\ufe0f 葛\U000e0100",
            "می\u200cخواهم क्\u200dष ❤\ufe0f 葛\U000e0100",
        ),
    ],
)
def test_control_characters_are_escaped_and_other_characters_stay(text: str, expected: str) -> None:
    assert printable(text) == expected


@pytest.mark.parametrize("value", [1, "[" * 200, {"a": [1, {"b": None}]}, 150 * [[]]])
def test_json_is_parsed_as_by_python(value: Any) -> None:
    assert parse_json(json.dumps(value)) == parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_json_may_have_a_byte_order_mark(encoding: str) -> None:
    content = '{"a": "Łódź"}'.encode(encoding)

    assert parse_json(content) == parse_json("\ufeff" + '{"a": "Łódź"}') == {"a": "Łódź"}


@pytest.mark.parametrize("text", [100_000 * "[", 100_000 * '{"a":'])
def test_json_of_any_depth_is_refused_and_ends_no_process(text: str) -> None:
    for each in (text, text.encode()):
        with pytest.raises(ValueError, match="too deep"):
            parse_json(each)


def test_a_number_that_json_lacks_is_a_missing_value_of_data_alone() -> None:
    assert math.isnan(parse_json("NaN"))
    assert parse_data('{"a": NaN, "b": [Infinity, -Infinity, 1.5]}') == {
        "a": None,
        "b": [None, None, 1.5],
    }


def test_half_of_a_surrogate_pair_is_refused() -> None:
    assert parse_json(r'["\ud83d\ude00", "\u00e9"]') == ["\U0001f600", "é"]

    for text in (r'{"a": "x\ud800"}', r'["\ude00"]', rb'"\uD83D"'):
        with pytest.raises(ValueError, match="surrogate"):
            parse_json(text)
