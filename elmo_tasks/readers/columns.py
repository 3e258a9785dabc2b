import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text_files import numbered_lines

# The first column of a line that begins a document and belongs to no sentence.
_DOCUMENT = "-DOCSTART-"


class ColumnSentence(NamedTuple):
    """
    A sentence of a file in columns.

    # Parameters

    line_number : `int`
        The line of the first token, from 1; the other tokens are on the lines after it.
    columns : `list[list[str]]`
        The values of each chosen column, one for each token.
    """

    line_number: int
    columns: list[list[str]]


def check_columns(columns: Sequence[str], chosen: Sequence[str]) -> None:
    """Raises `ConfigurationError` unless the columns have each chosen name exactly once."""
    for name in chosen:
        if columns.count(name) != 1:
            raise ConfigurationError(
                f"the columns must have {name!r} exactly once, but are {', '.join(columns)}"
            )


def read_columns(
    file_path: str | os.PathLike, columns: Sequence[str], chosen: Sequence[str]
) -> Iterator[ColumnSentence]:
    """
    Yields the sentences of a file in columns, such as those of CoNLL-2003. The file has one token
    on each line, and an empty line after each sentence. A line whose first column is `-DOCSTART-`
    ends a sentence and is no token.

    Any number of spaces and tabs separates two columns; other white space belongs to its column.
    The file is UTF-8, and may be packed by gzip or xz.

    # Parameters

    file_path : `str | os.PathLike`
        A path or an address.
    columns : `Sequence[str]`
        Names of all columns of the file, in their order.
    chosen : `Sequence[str]`
        Names of the columns to return, in any order.

    # Raises

    `ValueError`
        A line has more or fewer columns; the message names file and line.
    """
    indices = [columns.index(name) for name in chosen]
    rows: list[list[str]] = []
    line_number = 0
    for line_number, line in numbered_lines(file_path):
        values = re.findall(r"[^ \t]+", line)
        if not values or values[0] == _DOCUMENT:
            if rows:
                yield _sentence(line_number - len(rows), rows)
            rows = []
        elif len(values) == len(columns):
            rows.append([values[index] for index in indices])
        else:
            raise ValueError(
                f"{file_path}:{line_number}: expected {len(columns)} columns "
                f"({' '.join(columns)}), but got {len(values)}: {' '.join(values)!r}"
            )
    if rows:
        yield _sentence(line_number + 1 - len(rows), rows)


def _sentence(line_number: int, rows: list[list[str]]) -> ColumnSentence:
    return ColumnSentence(line_number, [list(column) for column in zip(*rows)])
