import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text_files import numbered_lines

# How the lines around a document begin in CoNLL-2003 and CoNLL-2012. They are in no sentence.
_DOCUMENT = "-DOCSTART-"
_DOCUMENT_COMMENTS = (("#begin", "document"), ("#end", "document"))

# The columns of the files `*.gold_conll` of CoNLL-2012.
CONLL_2012 = (
    "document part index word pos parse lemma predicate sense speaker entity roles coreference"
).split()

# The name that stands for several columns, one for each predicate of the sentence.
ROLES = "roles"

_PART = re.compile(r"#begin document .*; part ([0-9]+)")
_BYTE_ORDER_MARK = "\ufeff"


class Rows(NamedTuple):
    """
    A sentence of a file in columns, with all values of each token.

    # Parameters

    line_number: The line of the first token, from 1; the other tokens are on the lines after it.
    tokens: For each token, its values in all columns.
    part: The part number in the line `#begin document` above the sentence, if there is one.
    """

    line_number: int
    tokens: list[list[str]]
    part: int | None


class ColumnSentence(NamedTuple):
    """
    A sentence of a file in columns, with the values of the chosen columns.

    # Parameters

    line_number: The line of the first token, from 1; the other tokens are on the lines after it.
    columns: The values of each chosen column, one for each token.
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
    Returns the index of a column in a token's values. As `ROLES` stands for any number of columns,
    the index of a column after `ROLES` counts from the end.
    """
    index = columns.index(name)
    return index - len(columns) if ROLES in columns[:index] else index


def check_width(values: Sequence[str], columns: Sequence[str]) -> None:
    """Raises `ValueError` unless a token has a value for each column (for `ROLES`, any number)."""
    has_roles = ROLES in columns
    expected = len(columns) - has_roles
    if len(values) < expected or len(values) > expected and not has_roles:
        raise ValueError(
            f"expected {'at least ' if has_roles else ''}{expected} columns "
            f"({' '.join(columns)}), but got {len(values)}: {' '.join(values)!r:.80}"
        )


def check_place(
    values: Sequence[str], before: Sequence[str] | None, part: int | None, columns: Sequence[str]
) -> None:
    """
    Raises `ValueError` if a token's column `index` or `part` contradicts the token's place. Either
    column may be missing.

    # Parameters

    values, before: The values of a token and of the token before it in its sentence. `before` is
        `None` for the first token, whose index is 0 or 1.
    part: The part number in the line `#begin document`.
    columns: Names of all columns.
    """
    if "index" in columns:
        at = column_index(columns, "index")
        expected = ("0", "1") if before is None else (str(int(before[at]) + 1),)
        if values[at] not in expected:
            raise ValueError(
                f"expected the index {' or '.join(expected)} of a token in its sentence, but got "
                f"{values[at]!r:.80}; a sentence ends with an empty line"
            )
    if "part" in columns and part is not None:
        found = values[column_index(columns, "part")]
        if found.isdecimal() and int(found) != part:
            raise ValueError(f"the token is of part {found:.80}, but '#begin' says part {part}")


def read_columns(
    file_path: str | os.PathLike, columns: Sequence[str], chosen: Sequence[str]
) -> Iterator[ColumnSentence]:
    """
    Yields the sentences of a file in columns, such as those of CoNLL-2003. The file has one token
    on each line, and an empty line after each sentence. A line whose first column is `-DOCSTART-`,
    or that begins with `#begin document` or `#end document`, ends a sentence and is no token.

    Any number of spaces and tabs separates two columns; other white space is part of a value. The
    file is UTF-8, and may be compressed by gzip or xz.

    # Parameters

    file_path: A path or an address.
    columns: Names of all columns of the file, in their order.
    chosen: Names of the columns to return, in any order.

    # Raises

    `ValueError`: A line has more or fewer columns than `columns`; the message names file and line.
    """
    indices = [columns.index(name) for name in chosen]
    for first, tokens, _ in read_rows(file_path):
        for line_number, values in enumerate(tokens, start=first):
            if len(values) != len(columns):
                raise ValueError(
                    f"{file_path}:{line_number}: expected {len(columns)} columns "
                    f"({' '.join(columns)}), but got {len(values)}: {' '.join(values)!r:.80}"
                )
        yield ColumnSentence(first, [[row[index] for row in tokens] for index in indices])


def read_rows(file_path: str | os.PathLike) -> Iterator[Rows]:
    """
    Yields the sentences of a file in columns. The format is that of `read_columns`, with any
    number of columns.
    """
    tokens: list[list[str]] = []
    part: int | None = None
    line_number = 0
    for line_number, line in column_lines(file_path):
        values = re.findall(r"[^ \t]+", line)
        begins = bool(values) and is_document(line)
        if values and not begins:
            tokens.append(values)
        elif tokens:
            yield Rows(line_number - len(tokens), tokens, part)
            tokens = []
        if begins:
            part = part_of(line)
    if tokens:
        yield Rows(line_number + 1 - len(tokens), tokens, part)


def column_lines(file_path: str | os.PathLike) -> Iterator[tuple[int, str]]:
    """
    Yields the lines of a file in columns, as `numbered_lines` does. Raises `ValueError` at a line
    that begins with a byte order mark, because the mark would become a part of the first word.
    """
    for line_number, line in numbered_lines(file_path):
        if line.startswith(_BYTE_ORDER_MARK):
            raise ValueError(
                f"{file_path}:{line_number}: the line begins with a byte order mark, which only "
                "the first line may have; remove it"
            )
        yield line_number, line


def is_document(line: str) -> bool:
    """Returns whether a line is one of the lines around a document, and not a token."""
    values = line.split()
    return values[:1] == [_DOCUMENT] or tuple(values[:2]) in _DOCUMENT_COMMENTS


def part_of(line: str) -> int | None:
    """Returns the part number in a line `#begin document (NAME); part 000`, or `None`."""
    part = _PART.match(line)
    return int(part[1]) if part else None
