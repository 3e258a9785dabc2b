"""The records of a file of any kind: text, tables, JSON lines, Parquet, Excel, columns."""

import csv
import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from elmo_tasks.common.class_names import class_names, with_names
from elmo_tasks.common.columns import is_document, sentence_columns
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import parse_json
from elmo_tasks.common.text_files import at_line, lines_of, opened, refuse_damaged

# The suffixes of compressed files.
COMPRESSED = (".gz", ".xz")

# The kinds of files by their suffixes. `.conll`, `.v4_gold_conll` and the like have columns.
_KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".conllu": "conllu",
}
_CONLL = re.compile(r"\.\w*conll\w*")

# The kinds of files that have the same columns in every record.
TABLES = ("csv", "tsv", "parquet", "xlsx")

# The number of rows of Parquet that are read at once.
_PARQUET_ROWS = 1024

# The number of the line at which a row begins, and the row's fields.
_Row = tuple[int, list[Any]]


class Record(NamedTuple):
    """
    A line of text, a row of a table, a JSON object, or a sentence in columns.

    # Parameters

    file: The path or address of the file, or `standard input`.
    line: The number of the line at which the record begins, from 1; in Parquet, of the row.
    values: The values by column or field. A line of text is the value `text`. A sentence in columns
        has a list in each column, with a value for each token.
    """

    file: str
    line: int
    values: dict[str, Any]


def kind_of(path: str | os.PathLike, first_line: str = "") -> str:
    """
    Returns the kind of a file: `csv`, `tsv`, `xlsx`, `parquet`, `json` (an object on each line),
    `conllu`, `columns` or `text`. The suffix of its name decides, or else its first line.
    """
    suffix = suffix_of(path)
    if suffix in _KINDS:
        return _KINDS[suffix]
    if _CONLL.fullmatch(suffix) or is_document(first_line):
        return "columns"
    return "json" if first_line.lstrip().startswith("{") else "text"


def suffix_of(path: str | os.PathLike) -> str:
    """
    Returns the suffix of a file's name, without a suffix of compression such as `.gz`, and without
    the query of an address.
    """
    name = Path(path)
    if "://" in str(path):
        name = Path(str(path).partition("?")[0])
    return (name.with_suffix("") if name.suffix in COMPRESSED else name).suffix


def read_records(
    path: str | os.PathLike,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
) -> Iterator[Record]:
    """
    Yields the records of a file, or for `-` those of the standard input, as a stream. All kinds but
    Parquet and Excel may be compressed. An empty line is a record in plain text, and none in other
    kinds. Raises `ValueError` with file and line if a record cannot be read.

    # Parameters

    kind: The kind of the file (see `kind_of`), by default the kind that its name tells.
    columns: The names of the columns of a file in columns (see `sentence_columns`).
    header (default `True`): Whether the first row of a table has the names of its columns.
        Otherwise they are named `1`, `2`, ....
    """
    with opened(path) as raw:
        yield from records_in(raw, path, kind, columns, header)


def records_in(
    raw: BinaryIO,
    path: str | os.PathLike,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
    only: Sequence[str] = (),
) -> Iterator[Record]:
    """
    Yields the records of an open file as `read_records` does. Of Parquet, reads only the columns in
    `only`, or all columns if the file has none of these.
    """
    name = "standard input" if path == "-" else os.fspath(path)
    kind = kind or kind_of(path)
    if kind == "parquet":
        return _parquet(raw, name, only)
    if kind == "xlsx":
        rows = _with_names(_sheet_rows(raw, name), name, header)
        return (Record(name, *row) for row in rows)
    lines = lines_of(raw, name)
    if kind == "json":
        return (_of_json(name, *line) for line in lines if line[1].strip())
    if kind == "text":
        return (Record(name, number, {"text": text}) for number, text in lines)
    if kind in ("csv", "tsv"):
        rows = _with_names(_table_rows(lines, name, kind), name, header)
        return (Record(name, *row) for row in rows)
    sentences = sentence_columns(lines, name, kind, columns)
    return (Record(name, line, values) for line, values, _ in sentences)


def _of_json(name: str, number: int, text: str) -> Record:
    with at_line(name, number):
        try:
            value = parse_json(text)
        except ValueError as error:
            raise ValueError(f"not JSON: {error}: {text[:40]!r}") from error
        if not isinstance(value, dict):
            raise ValueError(f"expected a JSON object, not {text[:40]!r}")
    return Record(name, number, value)


def _parquet(raw: BinaryIO, name: str, only: Sequence[str]) -> Iterator[Record]:
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(raw) as file:
            wanted = [column for column in only if column in file.schema_arrow.names]
            names = class_names(file.schema_arrow.metadata)
            for batch in file.iter_batches(_PARQUET_ROWS, columns=wanted or None):
                for row in range(len(batch)):
                    number += 1
                    values = {key: batch.column(key)[row] for key in batch.schema.names}
                    with at_line(name, number):
                        found = {key: _plain(value.as_py()) for key, value in values.items()}
                    for key in names.keys() & found.keys():
                        found[key] = with_names(found[key], names[key])
                    yield Record(name, number, found)
    except (pyarrow.ArrowException, OSError) as error:
        refuse_damaged(name, number, error)


def _table_rows(lines: Iterator[tuple[int, str]], name: str, kind: str) -> Iterator[_Row]:
    """
    Yields the rows of a `csv` or `tsv` file, from its numbered lines; empty lines are no rows. In
    `csv`, a field in double quotes may have delimiters and line ends. In `tsv`, quotes are ordinary
    characters. Raises `ValueError` with file and line if a row cannot be read.
    """
    _, first = next(lines, (1, ""))
    # A field may have any length; Python's own limit is 128 KiB.
    csv.field_size_limit(2**31 - 1)
    texts = chain([f"{first}\n"], (f"{line}\n" for _, line in lines))
    rows = (
        csv.reader(texts, delimiter="\t", strict=True, quoting=csv.QUOTE_NONE)
        if kind == "tsv"
        else csv.reader(texts, delimiter=_delimiter(first), strict=True)
    )
    start = 1
    try:
        for fields in rows:
            if fields:
                yield start, fields
            start = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{name}:{start}: {error}") from error


def _delimiter(header: str) -> str:
    """Returns the first of comma, semicolon and tab that cuts the header into several columns."""
    for delimiter in ",;\t":
        try:
            if len(next(csv.reader([header], delimiter=delimiter, strict=True), ())) > 1:
                return delimiter
        except csv.Error:
            # Text follows a closing quote, so this delimiter does not cut the columns.
            continue
    return ","


def _sheet_rows(raw: BinaryIO, name: str) -> Iterator[_Row]:
    """Yields the rows of the first sheet of an Excel workbook."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise ConfigurationError(
            f"{name} is a workbook of Excel: save it as CSV, or pip install openpyxl"
        ) from None
    try:
        sheet = openpyxl.load_workbook(raw, read_only=True, data_only=True).worksheets[0]
        # The file may state a wrong size. Without a size, rows that the file skips have no cells.
        sheet.reset_dimensions()
        rows = enumerate(sheet.iter_rows(values_only=True), start=1)
    except Exception as error:
        # openpyxl raises errors of many types for a damaged workbook.
        raise ValueError(f"{name} cannot be read as a workbook of Excel: {error!r}") from error
    width = None
    for number, row in rows:
        row = row[: max((end for end, cell in enumerate(row, 1) if cell is not None), default=0)]
        if row:
            # Cells at the end of a row may be missing.
            width = width or len(row)
            yield number, [*map(_plain, row), *[None] * (width - len(row))]


def _plain(value: Any) -> Any:
    """Returns a value in JSON's types. Dates and decimals become text; bytes are read as UTF-8."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return json.loads(json.dumps(value, default=str))


def _with_names(
    rows: Iterator[_Row], name: str, header: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    """
    Yields the number of each row, and its values by the names of the columns. Without a `header`,
    these are `1`, `2`, .... Raises `ValueError` with file and line if a row has another number of
    fields than the first.
    """
    names: list[str] | None = None
    for number, fields in rows:
        if names is None:
            if header:
                names = [str(field or "").strip() for field in fields]
                # Several columns may lack a name, since spreadsheets also write empty columns.
                twice = [each for each in names if each and names.count(each) > 1]
                if twice:
                    raise ConfigurationError(
                        f"{name}:{number}: several columns have the name {twice[0]}; give each its "
                        "own"
                    )
                continue
            names = [str(column) for column in range(1, len(fields) + 1)]
        if len(fields) != len(names):
            expected = "in the header" if header else "in the first row"
            raise ValueError(
                f"{name}:{number}: expected {len(names)} fields, as {expected}, but got "
                f"{len(fields)}"
            )
        yield number, dict(zip(names, fields))
    if names is None:
        what = "name the columns" if header else "be a row"
        raise ConfigurationError(f"{name} is empty: its first line must {what}")
