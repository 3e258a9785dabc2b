"""Reads the records of a file of any kind: text, tables, JSON lines, Parquet, Excel, columns."""

import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from elmo_tasks.common import tables
from elmo_tasks.common.binary_tables import parquet_rows, sheet_rows
from elmo_tasks.common.columns import is_document, sentence_columns
from elmo_tasks.common.encodings import DECOMPRESSING_ERRORS, head_of
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.json_lines import JSON_START, json_lines, json_object
from elmo_tasks.common.tables import fasttext_rows, named_rows, table_rows
from elmo_tasks.common.text_files import (
    at_line,
    corpus_files,
    lines_of,
    open_bytes,
)

# The suffixes of compressed files.
COMPRESSED = (".gz", ".xz")

# The kinds of files by their suffixes. `.conll`, `.v4_gold_conll` and the like have columns.
KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".conllu": "conllu",
}
CONLL = re.compile(r"\.\w*conll\w*")

# The kinds of tables that have a suffix, and of all files with the same columns in every record.
TABLES = ("csv", "tsv", "parquet", "xlsx")
ROWS = (*TABLES, "fasttext")


class Record(NamedTuple):
    """
    A line of text, a row of a table, a JSON object, or a sentence in columns.

    # Parameters

    file: The path or address of the file, or `standard input`.
    line: The number of the line at which the record begins, from 1; in Parquet, of the row.
    values: The values by column or field. A line of text has the one value `text`. A sentence in
        columns has, for each column, a list with a value for each token.
    """

    file: str
    line: int
    values: dict[str, Any]


def kind_of(path: str | os.PathLike, first_line: str = "") -> str:
    """
    Returns the kind of a file: `csv`, `tsv`, `xlsx`, `parquet`, `json` (an object on each line, or
    an array), `fasttext`, `conllu`, `columns` or `text`. The suffix of its name decides, unless the
    content is another kind of table. For any other suffix, `first_line` decides; by default it is
    the first line of the local file.
    """
    suffix = suffix_of(path)
    suffix_kind = KINDS.get(suffix) or ("columns" if CONLL.fullmatch(suffix) else "text")
    if suffix_kind not in ("text", *TABLES):
        return suffix_kind
    start, content_kind = first_line.lstrip(), None
    if not start and os.path.isfile(path):
        start, content_kind = _look_into(path)
    elif start.startswith("{"):
        content_kind = "json"
    content_kind = content_kind or _kind_of_start(start)
    return (
        suffix_kind
        if content_kind is None or (content_kind == "columns" and suffix_kind != "text")
        else content_kind
    )


def _look_into(path: str | os.PathLike) -> tuple[str, str | None]:
    """
    Returns the beginning of a file as text, and its kind if it is Parquet or an Excel workbook.
    """
    with open(path, "rb") as file:
        try:
            if file.peek(4).startswith(b"PAR1"):
                return "", "parquet"
            if file.peek(4).startswith(b"PK\x03\x04"):
                names = zipfile.ZipFile(path).namelist()
                return "", "xlsx" if "xl/workbook.xml" in names else None
            return head_of(file), None
        except (*DECOMPRESSING_ERRORS, zipfile.BadZipFile):
            # The code that reads the file says that it is damaged.
            return "", None


def _kind_of_start(start: str) -> str | None:
    """
    Returns the kind of a text with this beginning, or None if the beginning does not show the kind.
    """
    if JSON_START.match(start):
        return "json"
    if start.startswith("__label__"):
        return "fasttext"
    return "columns" if is_document(start.partition("\n")[0]) else None


def suffix_of(path: str | os.PathLike) -> str:
    """
    Returns the suffix of a file's name in small letters, without a suffix of compression such as
    `.gz`, and without the query of an address.
    """
    name = Path(path)
    if "://" in str(path):
        name = Path(str(path).partition("?")[0])
    is_compressed = name.suffix.lower() in COMPRESSED
    return (name.with_suffix("") if is_compressed else name).suffix.lower()


def files_of_lines(pattern: str | os.PathLike) -> list[str]:
    """
    Returns the files of a pattern, as `corpus_files` does. Raises `ConfigurationError` if the name
    of a file says that its lines are no sentences.
    """
    files = corpus_files(pattern)
    for file in files:
        suffix = suffix_of(file)
        if suffix in KINDS or CONLL.fullmatch(suffix):
            raise ConfigurationError(
                f"{file} is a file of the kind {suffix}, whose lines are no sentences: write each "
                "sentence on a line"
            )
    return files


def read_records(
    path: str | os.PathLike,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
) -> Iterator[Record]:
    """
    Yields the records of a file, or for `-` the records of the standard input, as a stream. All
    kinds but Parquet and Excel may be compressed. An empty line is a record in plain text, but not
    in other kinds. Raises `ValueError` with file and line if a record cannot be read.

    # Parameters

    kind: The kind of the file, by default the result of `kind_of`. `rows` stands for any kind with
        rows: JSON, fastText's lines, or a table.
    columns: The names of the columns of a file in columns (see `sentence_columns`).
    header: Whether the first row of a table has the names of its columns.
        Otherwise they are named `1`, `2`, ....
    """
    with open_bytes(path) as raw:
        yield from records_in(raw, path, kind, columns, header)


def check_no_number(row: Record, columns: Iterable[str]) -> None:
    """
    Raises `ConfigurationError` if a row has a number in one of the `columns`, which were chosen by
    their names, and a text in the column `text`.
    """
    text = row.values.get("text")
    for column in columns:
        number = str(row.values.get(column)).strip()
        if column != "text" and number.isdecimal() and isinstance(text, str) and " " in text:
            raise ConfigurationError(
                f"{row.file}:{row.line}: the column {column} has the number {number}, no text: "
                "choose the column of the texts with --column"
            )


def read_rows(path: str | os.PathLike, header: bool = True) -> Iterator[Record]:
    """
    Yields the rows of a table or of JSON as `read_records` does. The name of the file may have any
    suffix.
    """
    kind = kind_of(path)
    return read_records(path, "rows" if kind == "text" else kind, header=header)


def delimiter_of(path: str | os.PathLike) -> str:
    """Returns the delimiter by which `read_rows` reads a table of text."""
    kind = "tsv" if kind_of(path) == "tsv" else "csv"
    with open_bytes(path) as raw:
        return tables.delimiter_of(lines_of(raw, path), os.fspath(path), kind)


def records_in(
    raw: BinaryIO,
    path: str | os.PathLike,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
    only: Sequence[str] = (),
) -> Iterator[Record]:
    """
    Yields the records of an open file as `read_records` does. From Parquet, reads only the columns
    in `only`, or all columns if the file has none of them.
    """
    name = "standard input" if path == "-" else os.fspath(path)
    kind = kind or kind_of(path)
    if kind == "parquet":
        return (Record(name, *row) for row in parquet_rows(raw, name, only))
    if kind == "xlsx":
        rows = named_rows(sheet_rows(raw, name), name, header)
        return (Record(name, *row) for row in rows)
    lines = lines_of(raw, name)
    if kind == "rows":
        first = next((line for line in lines if line[1].strip()), (1, ""))
        kind, lines = _kind_of_start(first[1].lstrip()) or "csv", chain([first], lines)
    if kind == "json":
        return (_of_json(name, *line) for line in json_lines(lines, name))
    if kind == "text":
        return (Record(name, number, {"text": text}) for number, text in lines)
    if kind == "fasttext":
        return (Record(name, *row) for row in fasttext_rows(lines))
    if kind in ("csv", "tsv"):
        rows = named_rows(table_rows(lines, name, kind), name, header)
        return (Record(name, *row) for row in rows)
    sentences = sentence_columns(lines, name, kind, columns)
    return (Record(name, line, values) for line, values, _ in sentences)


def _of_json(name: str, number: int, text: str) -> Record:
    with at_line(name, number):
        return Record(name, number, json_object(text))
