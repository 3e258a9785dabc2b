import logging
from collections.abc import Sequence
from typing import Any

import pytest

from elmo_tasks.common.records import Record
from elmo_tasks.common.rows import LeftOut, complete_rows, is_blank, plain_text

GAPS: list[dict[str, Any]] = [
    {"text": "Soup.", "label": "a"},
    {"text": " ", "label": "a"},
    {"text": "Tea.", "label": None},
    {"text": "", "label": " ", "id": None},
    {"label": "a"},
    {"text": "Tea.", "label": 0, "answer": "reject"},
    {"text": "Tea.", "label": 0, "answer": "accept"},
    {"text": "Tea.", "label": [], "answer": "ignore"},
]


def rows(values: Sequence[dict[str, Any]]) -> list[Record]:
    return [Record("a.jsonl", number, each) for number, each in enumerate(values, start=1)]


def lines(*arguments: Any, **settings: Any) -> list[int]:
    return [row.line for row in complete_rows(rows(GAPS), *arguments, **settings)]


def test_rows_with_gaps_are_left_out_and_an_empty_row_is_nothing() -> None:
    left_out = LeftOut()

    assert lines(["text"], ["label"], left_out) == [1, 7]
    assert str(left_out) == (
        "2 rows without a text (lines 2, 5), 1 row without a label (line 3), 1 row with "
        '"answer": "reject" (line 6), 1 row with "answer": "ignore" (line 8)'
    )
    assert left_out and left_out.of_answers


def test_an_answer_is_kept_for_predictions_and_where_it_is_learnt() -> None:
    assert lines(["text"], are_gold=False) == [1, 3, 6, 7, 8]
    assert lines(["text"], ["answer"], LeftOut()) == [6, 7]
    assert lines() == [1, 2, 3, 5, 7]


def test_many_rows_are_counted_and_the_first_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert not list(complete_rows(rows([{"text": "", "id": 1}] * 1005), ["text"]))
    assert (
        "a.jsonl: left out 1,005 rows without a text (lines 1, 2, 3 and 1,002 more)" in caplog.text
    )


def test_a_column_that_no_row_has_is_refused_with_what_there_is() -> None:
    with pytest.raises(
        ValueError, match="a.jsonl:1: there is no field lable; did you mean 'label'"
    ):
        lines(["text"], ["lable"])
    assert not list(complete_rows([], ["text"]))


@pytest.mark.parametrize("value", [None, float("nan"), "", " \t\n", [], {}])
def test_a_missing_value_is_blank_and_has_no_text(value: Any) -> None:
    assert is_blank(value) and plain_text(value) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-1.0, "-1"), ("2.00", "2"), (0.5, "0.5"), ("1.0a", "1.0a"), (True, "true"),
     ("TRUE", "true"), ("tRue", "tRue"), (" a b ", "a b")],
)  # fmt: skip
def test_a_value_is_the_same_text_in_a_table_and_in_json(value: Any, text: str) -> None:
    assert plain_text(value) == text and not is_blank(value)
