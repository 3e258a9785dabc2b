"""Reads the rows of a table of text. The content shows its delimiter, its quotes and its header."""

import csv
import logging
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tab_rows import TWO_ENDS, Line, Row, begins_in_quotes, rows_of_tabs

logger = logging.getLogger(__name__)

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes"}

# Spreadsheets write the delimiter into a first line such as `sep=;`.
_SEP_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)

# A label of fastText, which stands before a text.
_FASTTEXT = re.compile(r"__label__(\S+)\s*")

# The number of lines that tell the delimiter.
_NUM_SAMPLED = 50

# The maximum number of first and last fields that are kept, to notice rows inside a text in quotes.
_MOST_ENDS = 1000


def table_rows(lines: Iterable[Line], name: str, kind: str) -> Iterator[Row]:
    """
    Yields the rows of a table from its numbered lines; empty lines are skipped. The delimiter is a
    comma, semicolon, tab or pipe. A first line such as `sep=;` names it; otherwise the first rows
    show it, and `kind` (`csv` or `tsv`) decides between several that fit. A field in double quotes
    may have delimiters and line ends. In a table with tabs, quotes are ordinary characters, unless
    the first row is in quotes or a field is written as spreadsheets write a field in quotes. Raises
    `ValueError` with file and line if a row cannot be read.
    """
    # A field may have any length; Python's own limit is 128 KiB.
    csv.field_size_limit(2**31 - 1)
    lines = _without_nul(lines, name)
    sample, delimiter = _first_lines(lines, name, kind)
    lines = chain(sample, lines)
    if delimiter == "\t" and not begins_in_quotes(text for _, text in sample):
        return rows_of_tabs(lines, name)
    return _rows_of_csv(lines, name, delimiter)


def delimiter_of(lines: Iterable[Line], name: str, kind: str) -> str:
    """Returns the delimiter by which `table_rows` reads a table."""
    return _first_lines(iter(lines), name, kind)[1]


def _first_lines(lines: Iterator[Line], name: str, kind: str) -> tuple[list[Line], str]:
    """Returns the first lines of a table, without a line such as `sep=;`, and the delimiter."""
    first = list(islice(lines, 1))
    if first and "\r" in first[0][1]:
        raise ValueError(f"{name}:{first[0][0]}: {TWO_ENDS}")
    delimiter = names_delimiter(first[0][1]) if first else None
    if delimiter:
        first = []
    sample = [*first, *islice(lines, _NUM_SAMPLED)]
    return sample, delimiter or _delimiter([text for _, text in sample], name, kind)


def names_delimiter(line: str) -> str | None:
    """Returns the delimiter that a line such as `sep=;` names, or None."""
    match = _SEP_LINE.fullmatch(line)
    return match[1] if match else None


def has_columns(first_line: str, names: Collection[str]) -> bool:
    """Returns whether a line has several fields, with these names among them."""
    fields = {field.strip(' "') for field in re.split(r"[,;\t|]", first_line)}
    return len(fields) > 1 and fields >= set(names)


def fasttext_rows(lines: Iterable[Line]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the lines of a file of fastText: a `label`, or a list of labels, and a `text`."""
    for number, line in lines:
        labels, text = [], line.strip()
        while label := _FASTTEXT.match(text):
            labels.append(label[1])
            text = text[label.end() :]
        if labels or text:
            yield number, {"label": labels[0] if len(labels) == 1 else labels, "text": text}


def named_rows(
    rows: Iterator[Row], name: str, header: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    """
    Yields the number of each row, and its values by the names of the columns. Without a `header`,
    the names are `1`, `2`, .... Rows that repeat the header, as in tables that were joined, are
    left out and counted in the log. Raises `ValueError` with file and line if a row has another
    number of fields than the first.
    """
    names: list[str] | None = None
    headers: list[int] = []
    for number, fields in rows:
        if header and names and len(names) > 1 and _are_names(fields, names):
            headers.append(number)
            continue
        if names is None:
            if header:
                names = [str(field or "").strip() for field in fields]
                # Spreadsheets also write empty columns. A single column without a name stays
                # without one, as the index of pandas; several would take each other's place.
                if names.count("") > 1:
                    names = [
                        header_name or f"column_{n}" for n, header_name in enumerate(names, start=1)
                    ]
                twice = [header_name for header_name in names if names.count(header_name) > 1]
                if twice:
                    raise ConfigurationError(
                        f"{name}:{number}: several columns have the name {twice[0]}; give each "
                        "column a name of its own"
                    )
                continue
            names = [str(column) for column in range(1, len(fields) + 1)]
        if len(fields) != len(names):
            if not any(str(field or "").strip() for field in fields):
                continue
            expected = "in the header" if header else "in the first row"
            raise ValueError(
                f"{name}:{number}: expected {len(names)} fields, as {expected}, but got "
                f"{len(fields)}{_hint(fields, len(names))}"
            )
        yield number, dict(zip(names, fields))
    if headers:
        logger.warning(
            "%s: rows that repeat the header and are left out: %d, the first in line %d",
            name,
            len(headers),
            headers[0],
        )
    if names is None:
        duty = "name the columns" if header else "be a row"
        raise ConfigurationError(f"{name} is empty: its first line must {duty}")


def _are_names(fields: Sequence[Any], names: Sequence[str]) -> bool:
    """Returns whether a row repeats the header. Most rows differ in the first field."""
    return len(fields) == len(names) and all(
        str(field).strip() == name for field, name in zip(fields, names)
    )


def _hint(fields: Sequence[Any], width: int) -> str:
    """Returns the end of a message about a row with another number of fields than `width`."""
    num_lines = 1 + sum(str(field).count("\n") for field in fields)
    if num_lines > 1:
        return f", in a row that runs over {num_lines} lines: is a quote not closed?"
    quotes = "; a text with the delimiter in it must be in quotes" * (len(fields) > width)
    return quotes + ", and no line may be above the header" * (width == 1)


def _without_nul(lines: Iterable[Line], name: str) -> Iterator[Line]:
    for number, text in lines:
        if "\0" in text:
            raise ValueError(
                f"{name}:{number}: has a NUL character, which no text has; take it out: "
                f"tr -d '\\000' < {shlex.quote(os.fspath(name))} > NEW"
            )
        yield number, text


def _delimiter(sample: Sequence[str], name: str, kind: str) -> str:
    """
    Returns the delimiter that cuts all rows of a sample into the same number of fields. If there is
    none, returns the first delimiter that cuts the header. Raises `ValueError` if several
    delimiters cut all rows alike.
    """
    usual = "\t" if kind == "tsv" else ","
    order = [usual, *(delimiter for delimiter in _DELIMITERS if delimiter != usual)]
    widths = {delimiter: _widths(sample, delimiter, name) for delimiter in order}
    cutting = [delimiter for delimiter in order if widths[delimiter][0] > 1]
    even = [delimiter for delimiter in cutting if len(set(widths[delimiter])) == 1]
    if len(even) > 1:
        first, second = even[:2]
        raise ValueError(
            f"{name}: {_DELIMITERS[first]} and {_DELIMITERS[second]} both give the first rows "
            "equal numbers of fields; write a first line that names the delimiter: "
            f"sep={first} or sep={second}"
        )
    return [*even, *cutting, usual][0]


def _widths(sample: Sequence[str], delimiter: str, name: str) -> list[int]:
    """Returns the number of fields of each row. At a row that cannot be read, ends with 0."""
    widths: list[int] = []
    if delimiter == "\t" and not begins_in_quotes(sample):
        return [len(fields) for _, fields in rows_of_tabs(enumerate(sample), name)] or [0]
    rows_of_csv = csv.reader((f"{line}\n" for line in sample), delimiter=delimiter, strict=True)
    try:
        widths.extend(len(fields) for fields in rows_of_csv if fields)
    except csv.Error:
        # The sample may end within a row.
        if rows_of_csv.line_num < len(sample):
            widths.append(0)
    return widths or [0]


def _rows_of_csv(lines: Iterable[Line], name: str, delimiter: str) -> Iterator[Row]:
    row_lines: list[Line] = []

    def texts() -> Iterator[str]:
        for line in lines:
            row_lines.append(line)
            yield f"{line[1]}\n"

    rows = csv.reader(texts(), delimiter=delimiter, strict=True)
    ends: set[str] = set()
    try:
        for fields in rows:
            if (
                len(row_lines) > 1
                and ends
                and _swallows(row_lines[:-1], delimiter, len(fields), ends)
            ):
                logger.warning(
                    "%s:%d: a text runs over %d lines, and each looks like a row: is a quote not "
                    "closed?",
                    name,
                    row_lines[0][0],
                    len(row_lines),
                )
            if fields:
                if len(ends) < _MOST_ENDS:
                    ends.update((fields[0], fields[-1]))
                yield row_lines[0][0], fields
            row_lines.clear()
    except csv.Error as error:
        raise ValueError(_unreadable(row_lines, name, str(error))) from error


def _swallows(row_lines: Sequence[Line], delimiter: str, width: int, ends: Collection[str]) -> bool:
    """
    Returns whether the lines of a field in quotes look like rows, so that a quote may be missing:
    each line has as many delimiters as a row, and one line begins or ends as rows do, for instance
    with a label.
    """
    pieces = [text.split(delimiter) for _, text in row_lines]
    are_rows = width > 1 and all(len(piece) == width for piece in pieces)
    return are_rows and any(piece[0] in ends or piece[-1] in ends for piece in pieces)


def _unreadable(row_lines: Sequence[Line], name: str, error: str) -> str:
    """Returns the message about the lines of a row that cannot be read."""
    start, end = row_lines[0][0], row_lines[-1][0]
    message = f"{name}:{start}: {error}"
    if start != end:
        message += f": a text in quotes runs over {end - start + 1} lines, to line {end}"
    if any('\\"' in text for _, text in row_lines):
        return f'{message}; a quote in quotes must be "", not \\", as sed \'s/\\\\"/""/g\' writes'
    return f'{message}; is a quote of it not closed, or not doubled ("")?'
