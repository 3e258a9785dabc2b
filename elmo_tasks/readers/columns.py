import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text_files import numbered_lines

# The beginnings of the lines around a document, which belong to no sentence, in CoNLL-2003 and in
# CoNLL-2012.
_DOCUMENT = "-DOCSTART-"
_DOCUMENT_COMMENTS = (("#begin", "document"), ("#end", "document"))

# The columns of CoNLL-2012's files `*.gold_conll`.
CONLL_2012 = (
    "document part index word pos parse lemma predicate sense speaker entity roles coreference"
).split()

# The name that stands for one column for each predicate of the sentence.
ROLES = "roles"


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


def column_index(columns: Sequence[str], name: str) -> int:
    """
    Returns the index of a column in the values of a token. It is counted from the end if `ROLES`,
    which stands for any number of columns, is before the column.
    """
    index = columns.index(name)
    return index - len(columns) if ROLES in columns[:index] else index


def check_width(values: Sequence[str], columns: Sequence[str]) -> None:
    """Raises `ValueError` unless a token has a value for each column, `ROLES` excepted."""
    has_roles = ROLES in columns
    expected = len(columns) - has_roles
    if len(values) < expected or len(values) > expected and not has_roles:
        raise ValueError(
            f"expected {'at least ' if has_roles else ''}{expected} columns "
            f"({' '.join(columns)}), but got {len(values)}: {' '.join(values)!r}"
        )


def read_columns(
    file_path: str | os.PathLike, columns: Sequence[str], chosen: Sequence[str]
) -> Iterator[ColumnSentence]:
    """
    Yields the sentences of a file in columns, such as those of CoNLL-2003. The file has one token
    on each line, and an empty line after each sentence. A line whose first column is `-DOCSTART-`
    ends a sentence and is no token, and so does one that begins with `#begin document` or
    `#end document`.

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
    for first, rows in read_rows(file_path):
        for line_number, values in enumerate(rows, start=first):
            if len(values) != len(columns):
                raise ValueError(
                    f"{file_path}:{line_number}: expected {len(columns)} columns "
                    f"({' '.join(columns)}), but got {len(values)}: {' '.join(values)!r}"
                )
        yield ColumnSentence(first, [[row[index] for row in rows] for index in indices])


def read_rows(file_path: str | os.PathLike) -> Iterator[tuple[int, list[list[str]]]]:
    """
    Yields the sentences of a file in columns as pairs: the line number of the first token, from 1,
    and the values of each token's columns. The format is that of `read_columns`, but the number of
    columns is free.
    """
    rows: list[list[str]] = []
    line_number = 0
    for line_number, line in numbered_lines(file_path):
        values = re.findall(r"[^ \t]+", line)
        if values and not _is_document(values):
            rows.append(values)
        elif rows:
            yield line_number - len(rows), rows
            rows = []
    if rows:
        yield line_number + 1 - len(rows), rows


def _is_document(values: list[str]) -> bool:
    return values[0] == _DOCUMENT or tuple(values[:2]) in _DOCUMENT_COMMENTS
