import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from elmo_tasks.common.columns import is_document, sentence_columns
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.common.tables import plain, sheet_rows, table_rows
from elmo_tasks.common.text_files import Line, lines_of, opened, refuse_damaged

# The suffixes of compressed files.
COMPRESSED = (".gz", ".xz", ".bz2")

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

_PARQUET_ROWS = 1024


class Record(NamedTuple):
    """
    A line of text, a row of a table, a JSON object, or a sentence in columns.

    # Parameters

    file: The path or address of the file, or `standard input`.
    line: The number of the line at which the record begins, from 1; in Parquet, of the row.
    values: The values by column or field. A line of text is the value `text`. A sentence in columns
        has a list in each column, with a value for each token.
    fault: Why the record cannot be read. Then there are no values.
    """

    file: str
    line: int
    values: dict[str, Any]
    fault: str | None = None


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
    """Returns the suffix of a file's name, without a suffix of compression such as `.gz`."""
    name = Path(path)
    return (name.with_suffix("") if name.suffix in COMPRESSED else name).suffix


def read_records(
    path: str | os.PathLike,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
) -> Iterator[Record]:
    """
    Yields the records of a file, or for `-` those of the standard input, as a stream. All kinds but
    Parquet and Excel may be compressed. Empty lines are records of text alone. Raises `ValueError`
    with file and line if a record cannot be read.

    # Parameters

    kind: The kind of the file (see `kind_of`), by default that of its name.
    columns: The names of the columns of a file in columns (see `sentence_columns`).
    header (default `True`): Whether the first row of a table has the names of its columns.
        Otherwise they are named `1`, `2`, ....
    """
    with opened(path) as raw:
        for record in records_in(raw, path, kind, columns, header):
            if record.fault is not None:
                raise ValueError(f"{record.file}:{record.line}: {record.fault}")
            yield record


def records_in(
    raw: BinaryIO,
    path: str | os.PathLike,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
    only: Sequence[str] = (),
) -> Iterator[Record]:
    """
    Yields the records of an open file as `read_records` does, but a line of text or JSON or a row
    of Parquet that cannot be read has a `fault`. Of Parquet, reads only the columns `only`, if any
    of them is there.
    """
    name = "standard input" if path == "-" else os.fspath(path)
    kind = kind or kind_of(path)
    if kind == "parquet":
        return _parquet(raw, name, only)
    if kind == "xlsx":
        return (Record(name, *row) for row in sheet_rows(raw, name, header))
    lines = lines_of(raw, name)
    if kind == "json":
        return (_of_json(name, line) for line in lines if line.fault or line.text.strip())
    if kind == "text":
        return (
            Record(name, line.number, {} if line.fault else {"text": line.text}, line.fault)
            for line in lines
        )
    readable = ((line.number, line.text) for line in _without_faults(lines, name))
    if kind in ("csv", "tsv"):
        return (Record(name, *row) for row in table_rows(readable, name, kind, header))
    return (Record(name, *each) for each in sentence_columns(readable, name, kind, columns))


def _without_faults(lines: Iterable[Line], name: str) -> Iterator[Line]:
    for line in lines:
        if line.fault is not None:
            raise ValueError(f"{name}:{line.number}: {line.fault}")
        yield line


def _of_json(name: str, line: Line) -> Record:
    if line.fault is not None:
        return Record(name, line.number, {}, line.fault)
    try:
        value = parse_json(line.text)
    except ValueError as error:
        return Record(name, line.number, {}, f"no JSON: {error}: {line.text[:40]!r}")
    if not isinstance(value, dict):
        return Record(name, line.number, {}, f"expected a JSON object, not {line.text[:40]!r}")
    return Record(name, line.number, value)


def _parquet(raw: BinaryIO, name: str, only: Sequence[str]) -> Iterator[Record]:
    # pyarrow is imported only when it is needed.
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(raw) as file:
            wanted = [column for column in only if column in file.schema_arrow.names]
            for batch in file.iter_batches(_PARQUET_ROWS, columns=wanted or None):
                for row in range(len(batch)):
                    number += 1
                    values = {key: batch.column(key)[row] for key in batch.schema.names}
                    try:
                        found = {key: plain(value.as_py()) for key, value in values.items()}
                    except UnicodeDecodeError as error:
                        yield Record(name, number, {}, f"not UTF-8: {error}")
                    else:
                        yield Record(name, number, found)
    except (pyarrow.ArrowException, OSError) as error:
        refuse_damaged(name, number, error)
