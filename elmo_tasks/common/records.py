import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from elmo_tasks.common.columns import is_document, sentence_columns
from elmo_tasks.common.tables import plain, sheet_rows, table_rows, with_names
from elmo_tasks.common.text import parse_json
from elmo_tasks.common.text_files import Record, at_line, lines_of, opened, refuse_damaged

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

_PARQUET_ROWS = 1024


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
    Yields the records of an open file as `read_records` does. Of Parquet, reads only the columns
    `only`, if any of them is there.
    """
    name = "standard input" if path == "-" else os.fspath(path)
    kind = kind or kind_of(path)
    if kind == "parquet":
        return _parquet(raw, name, only)
    if kind == "xlsx":
        rows = with_names(sheet_rows(raw, name), name, header)
        return (Record(name, *row) for row in rows)
    lines = lines_of(raw, name)
    if kind == "json":
        return (_of_json(name, *line) for line in lines if line[1].strip())
    if kind == "text":
        return (Record(name, number, {"text": text}) for number, text in lines)
    if kind in ("csv", "tsv"):
        rows = with_names(table_rows(lines, name, kind), name, header)
        return (Record(name, *row) for row in rows)
    return (Record(name, *each) for each in sentence_columns(lines, name, kind, columns))


def _of_json(name: str, number: int, text: str) -> Record:
    with at_line(name, number):
        try:
            value = parse_json(text)
        except ValueError as error:
            raise ValueError(f"no JSON: {error}: {text[:40]!r}") from error
        if not isinstance(value, dict):
            raise ValueError(f"expected a JSON object, not {text[:40]!r}")
    return Record(name, number, value)


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
                    with at_line(name, number):
                        found = {key: plain(value.as_py()) for key, value in values.items()}
                    yield Record(name, number, found)
    except (pyarrow.ArrowException, OSError) as error:
        refuse_damaged(name, number, error)
