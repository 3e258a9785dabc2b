"""
Reads the rows of a table with tabs. Quotes may enclose a field, or may be ordinary characters.
"""

import csv
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

logger = logging.getLogger(__name__)

# The number of the line at which a row begins, and the row's fields.
Row = tuple[int, list[Any]]
Line = tuple[int, str]

TWO_ENDS = "some lines end with CR, and others with LF; write the table with one kind of line end"

# The maximum number of lines of a text in a table with tabs.
_MOST_LINES = 1000

# A field in quotes that a spreadsheet writes: it has a doubled quote or the end of a line.
_QUOTED = re.compile(r'"(?:[^"]|"")*(?:""|[\r\n])(?:[^"]|"")*"')

# A field whose quote at the beginning is not closed in it, and the number of lines below it that
# are looked at for the end.
_OPEN = re.compile(r'"[^"]*(?:""[^"]*)*$')
_NUM_IN_DOUBT = 5


def begins_in_quotes(texts: Iterable[str]) -> bool:
    """Returns whether each field of the first row of a table with tabs is in quotes."""
    fields = next(filter(str.strip, texts), "").split("\t")
    return all(len(field) > 1 and field[0] == field[-1] == '"' for field in fields)


def rows_of_tabs(lines: Iterable[Line], name: str) -> Iterator[Row]:
    """
    Yields the rows of a table with tabs. A field in quotes may go on in the lines below. A line
    that seems unfinished is read together with the lines below it, if the lines together have as
    many fields as the first row. A line seems unfinished if it has another number of fields, or if
    its last field has a quote only at its beginning.
    """
    stream = iter(lines)
    ahead: list[Line] = []
    width = 0
    in_doubt: list[int] = []
    while line := ahead.pop(0) if ahead else next(stream, None):
        number, text = line
        if not text:
            continue
        fields = text.split("\t")
        # Tabs of a first row may be in quotes.
        width = width or len('"' in text and _parse([text]) or fields)
        joined_fields = None
        if '"' in text and width > 1:
            is_open = fields[-1].startswith('"') and fields[-1].count('"') % 2 == 1
            if len(fields) != width or is_open:
                joined_fields = _join_lines(text, ahead, stream, width)
            if joined_fields is None and any(map(_OPEN.match, fields)):
                ahead.extend(islice(stream, max(0, _NUM_IN_DOUBT - len(ahead))))
                texts = [text, *(below for _, below in ahead[:_NUM_IN_DOUBT])]
                rows = (_parse(texts[:end]) for end in range(2, len(texts) + 1))
                if any(row and len(row) == width for row in rows):
                    in_doubt.append(number)
        fields = joined_fields or [_unquote(field) for field in fields]
        if (
            "\r" in text
            and joined_fields is None
            and not any(map(_QUOTED.fullmatch, text.split("\t")))
        ):
            raise ValueError(f"{name}:{number}: {TWO_ENDS}")
        yield number, fields
    if in_doubt:
        logger.warning(
            "%s:%d: its quote is an ordinary character here, but could open a text that has tabs "
            "and line ends (%d such lines); if it does, save the table as .csv",
            name,
            in_doubt[0],
            len(in_doubt),
        )


def _join_lines(
    text: str, ahead: list[Line], stream: Iterator[Line], width: int
) -> list[str] | None:
    """
    Returns the fields of a row that begins with the line `text` and goes on in the lines below, or
    None if there is no such row. Takes the further lines from `ahead`, which is filled from
    `stream`.
    """
    texts = [text]
    is_row = text.count("\t") == width - 1
    for index in range(_MOST_LINES):
        if '"' in texts[-1] and (fields := _parse(texts)) and len(fields) == width:
            del ahead[:index]
            return fields
        # A line of as many fields is a row of its own, unless it is the end of a row in quotes.
        if index and texts[-1].count("\t") == width - 1:
            return None
        if index == len(ahead):
            ahead.extend(islice(stream, 1))
        if index == len(ahead) or (is_row and ahead[index][1].count("\t") == width - 1):
            return None
        texts.append(ahead[index][1])
    return None


def _parse(texts: Sequence[str]) -> list[str] | None:
    """Returns the fields of a row of several lines, or None if the lines are not one row."""
    try:
        rows = list(csv.reader([f"{text}\n" for text in texts], delimiter="\t", strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _unquote(field: str) -> str:
    return field[1:-1].replace('""', '"') if _QUOTED.fullmatch(field) else field
