"""Reads the sentences of files in columns, such as those of CoNLL-2003 and CoNLL-U."""

import re
from collections.abc import Iterator

from allennlp.data import DatasetReader

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.columns import (
    check_width,
    column_index,
    is_document,
    read_rows,
)
from elmo_tasks.readers.tagged_file import read_tagged, suffix_of

# `.conll`, `.conllu`, `.v4_gold_conll` and others.
_SUFFIX = re.compile(r"\.\w*conll\w*")


def is_in_columns(path: str, first_line: str) -> bool:
    """Returns whether a file is in columns, by its suffix or its first line."""
    return bool(_SUFFIX.fullmatch(suffix_of(path))) or is_document(first_line)


def column_sentences(path: str, reader: DatasetReader) -> Iterator[tuple[int, list[str]]]:
    """
    Yields each sentence of a file in columns: the line number of its first token, and its words. A
    `.conllu` file has its words in the column FORM; lines with a range or a fraction as their ID
    are left out. Any other file has the columns of the model's dataset reader, or one column.

    # Raises

    `ValueError`: A line lacks columns or has too many; the message names file and line.
    `ConfigurationError`: The columns are not known.
    """
    if suffix_of(path) != ".conllu":
        return _rows(path, reader)
    return ((each.line_number, each.words) for each in read_tagged(path, "form", (), list))


def _rows(path: str, reader: DatasetReader) -> Iterator[tuple[int, list[str]]]:
    columns = getattr(reader, "columns", None)
    for rows in read_rows(path):
        if all(len(values) == 1 for values in rows.tokens):
            yield rows.line_number, [values[0] for values in rows.tokens]
            continue
        if columns is None:
            raise ConfigurationError(
                f"{path}:{rows.line_number}: the file is in columns, and the model does not know "
                "which column has the words: give plain text, JSON, or one word on each line"
            )
        word = column_index(columns, "word")
        for line_number, values in enumerate(rows.tokens, start=rows.line_number):
            with at_line(path, line_number):
                check_width(values, columns)
        yield rows.line_number, [values[word] for values in rows.tokens]
