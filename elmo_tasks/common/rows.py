"""Chooses the rows of a file that count: rows with a text and a label that nobody has rejected."""

import logging
import math
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from elmo_tasks.common.records import Record
from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.common.text_files import at_line

logger = logging.getLogger(__name__)

# The field in which Prodigy writes its user's verdict on a row, and the verdicts on rows that are
# not gold data.
ANSWER = "answer"
_REFUSED = {"reject": 'with "answer": "reject"', "ignore": 'with "answer": "ignore"'}

# The number of lines that are named.
_MOST_NAMED = 3

_WHOLE = re.compile(r"(-?\d+)\.0+")
_TRUTH = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}


class LeftOut:
    """Counts the rows of a file that are left out, by reason, and names the first lines."""

    def __init__(self) -> None:
        self._lines: dict[str, list[int]] = {}

    def add(self, reason: str, line: int) -> None:
        self._lines.setdefault(reason, []).append(line)

    @property
    def of_answers(self) -> bool:
        """Whether rows were left out because a user of Prodigy rejected or ignored them."""
        return not self._lines.keys().isdisjoint(_REFUSED.values())

    def __bool__(self) -> bool:
        return bool(self._lines)

    def __str__(self) -> str:
        return ", ".join(_rows_text(reason, lines) for reason, lines in self._lines.items())

    def log(self, file: object) -> None:
        """Logs in one line which rows of a file were left out, if any were."""
        if self:
            logger.warning("%s: left out %s", file, self)


def complete_rows(
    records: Iterable[Record],
    texts: Collection[str] = (),
    labels: Collection[str] = (),
    left_out: LeftOut | None = None,
    are_gold: bool = True,
) -> Iterator[Record]:
    """
    Yields the rows with a value in each of the columns `texts` and `labels`. Other rows are left
    out and counted; rows without any value are left out without being counted.

    # Parameters

    left_out: Counts the rows that are left out. By default, the log names them at the end.
    are_gold: Whether the rows are learnt or scored. Then rows that a user of Prodigy ignored or
        rejected are left out too. If `answer` is one of the columns, rejected rows stay.

    # Raises

    `ValueError`: One of the columns is in no row.
    """
    counts = LeftOut() if left_out is None else left_out
    missing = [*texts, *labels]
    unwanted = {} if not are_gold else _REFUSED
    if ANSWER in missing:
        unwanted = {answer: reason for answer, reason in unwanted.items() if answer != "reject"}
    first: Record | None = None
    for record in records:
        values = record.values
        first = first or record
        missing = [name for name in missing if name not in values]
        if all(map(is_blank, values.values())):
            continue
        reason = unwanted.get(str(values.get(ANSWER)))
        if reason is not None:
            counts.add(reason, record.line)
        elif any(is_blank(values.get(name)) for name in texts):
            counts.add("without a text", record.line)
        elif any(is_blank(values.get(name)) for name in labels):
            counts.add("without a label", record.line)
        else:
            yield record
    if first is None:
        return
    for name in missing:
        with at_line(first.file, first.line):
            raise ValueError(f"there is no field {name}{nearest_or_all(name, first.values)}")
    if left_out is None:
        counts.log(first.file)


def is_blank(value: Any) -> bool:
    """Returns whether a value is missing: None, NaN, blank text, or an empty list or object."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or value in ([], {})


def plain_text(value: Any) -> str:
    """
    Returns a value as text. A value from JSON gives the same text as the value in a table: a whole
    number has no decimal point, and truth values are `true` and `false`. A missing value is "".
    """
    if is_blank(value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip()
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else _TRUTH.get(text, text)


def _rows_text(reason: str, lines: list[int]) -> str:
    numbers = ", ".join(map(str, lines[:_MOST_NAMED]))
    more = len(lines) - _MOST_NAMED
    also = f" and {more:,} more" if more > 0 else ""
    rows, where = ("row", "line") if len(lines) == 1 else ("rows", "lines")
    return f"{len(lines):,} {rows} {reason} ({where} {numbers}{also})"
