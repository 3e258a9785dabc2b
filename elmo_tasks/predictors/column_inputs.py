"""Reads the sentences of files in columns, such as those of CoNLL-2003 and CoNLL-U."""

import os
import re
from collections.abc import Iterator

from allennlp.data import DatasetReader

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tables import PACKED
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.columns import (
    check_width,
    column_index,
    column_lines,
    is_document,
    read_rows,
)

# `.conll`, `.conllu`, `.v4_gold_conll` and others.
_SUFFIX = re.compile(r"\.\w*conll\w*$")
_NUM_CONLLU = 10


def is_in_columns(path: str, first_line: str) -> bool:
    """Returns whether a file is one in columns, by its suffix or its first line."""
    return bool(_SUFFIX.search(_stem(path))) or is_document(first_line)


def column_sentences(path: str, reader: DatasetReader) -> Iterator[tuple[int, list[str]]]:
    """
    Yields the line of the first token, and the words, of each sentence of a file in columns. A
    `.conllu` file has its words in the column FORM; words with a range or a fraction as their ID
    are left out. Any other file has the columns of the model's dataset reader, or one column.

    # Raises

    `ValueError`
        A line has more or fewer columns; the message names file and line.
    `ConfigurationError`
        The columns are not known.
    """
    return _conllu(path) if _stem(path).endswith(".conllu") else _rows(path, reader)


def _stem(path: str) -> str:
    stem, suffix = os.path.splitext(path)
    return stem if suffix in PACKED else path


def _rows(path: str, reader: DatasetReader) -> Iterator[tuple[int, list[str]]]:
    columns = getattr(reader, "columns", None)
    for rows in read_rows(path):
        if all(len(values) == 1 for values in rows.tokens):
            yield rows.line_number, [values[0] for values in rows.tokens]
            continue
        if columns is None:
            raise ConfigurationError(
                f"{path}:{rows.line_number}: the file is in columns, and the model does not know "
                "which of them has the words: give it one word on each line, or text or JSON"
            )
        word = column_index(columns, "word")
        for line_number, values in enumerate(rows.tokens, start=rows.line_number):
            with at_line(path, line_number):
                check_width(values, columns)
        yield rows.line_number, [values[word] for values in rows.tokens]


def _conllu(path: str) -> Iterator[tuple[int, list[str]]]:
    words: list[str] = []
    first = 0
    for line_number, line in column_lines(path):
        fields = line.split("\t")
        if not line.strip():
            if words:
                yield first, words
            words = []
        elif not line.startswith("#"):
            if len(fields) != _NUM_CONLLU:
                raise ValueError(
                    f"{path}:{line_number}: expected the {_NUM_CONLLU} columns of CoNLL-U, with a "
                    f"tab between them, but got {len(fields)}: {line!r:.80}"
                )
            first = first if words else line_number
            words += [fields[1]] if fields[0].isdecimal() else []
    if words:
        yield first, words
