import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.spelling import listed
from elmo_tasks.common.text_files import MAX_LINE_BYTES, numbered_lines

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
# The suffixes of compressed files.
COMPRESSED = (".gz", ".xz", ".bz2")
_EMPTY = "{} is empty: its first line must name the columns"


class Record(NamedTuple):
    """
    A row of a table, or an object in JSON.

    # Parameters

    line_number: The number of the line at which the row begins. The header of a table is line 1. In
        Parquet, this is the number of the row.
    values: The values by the names of their columns. In `.csv` and `.tsv` all values are strings.
    """

    line_number: int
    values: dict[str, Any]


def delimiter_of(path: str | os.PathLike) -> str | None:
    """
    Returns the character that separates the fields of a table, by the suffix of its file: a comma
    for `.csv`, a tab for `.tsv`. The file may be compressed (`.gz`, `.xz`, `.bz2`). Returns `None`
    for other files.
    """
    name = Path(path)
    return _DELIMITERS.get((name.with_suffix("") if name.suffix in COMPRESSED else name).suffix)


def is_parquet(path: str | os.PathLike) -> bool:
    return Path(path).suffix == ".parquet"


def read_table(path: str | os.PathLike) -> Iterator[Record]:
    """
    Yields the rows of a `.csv` or `.tsv` file, whose first line has the names of the columns. In
    `.csv`, a field in double quotes may have commas and line ends. In `.tsv`, quotes are ordinary
    characters. Empty lines are skipped.

    # Raises

    `ValueError`: Two columns have the same name, or a row has more or fewer fields than the header
        or cannot be read; the message names file and line.
    """
    rows = _reader(path)
    header: list[str] | None = None
    start = 1
    try:
        for fields in rows:
            if header is None:
                header = _names(path, fields)
            elif fields:
                if len(fields) != len(header):
                    raise ValueError(
                        f"{path}:{start}: expected {len(header)} fields, as in the header, but got "
                        f"{len(fields)}"
                    )
                yield Record(start, dict(zip(header, fields)))
            start = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{path}:{start}: {error}") from error
    if header is None:
        raise ValueError(_EMPTY.format(path))


def choose_column(path: str | os.PathLike, column: str | None, known: Sequence[str]) -> str:
    """
    Returns the name of a table's column of texts: the given name, or the first known name in the
    header. Raises `ConfigurationError` if the table has no such column.
    """
    names = _header(path)
    for name in known if column is None else (column,):
        if name in names:
            return name
    wanted = " or ".join(known) if column is None else column
    raise ConfigurationError(
        f"{path}:1: there is no column {wanted}; choose one of {listed(names)}"
    )


def check_header(path: str | os.PathLike, expected: Sequence[str]) -> None:
    """Raises `ConfigurationError` unless a table has the expected columns."""
    names = _header(path)
    if not set(expected) <= set(names):
        raise ConfigurationError(
            f"{path}:1: expected the columns {' and '.join(expected)}, but got {listed(names)}"
        )


def _header(path: str | os.PathLike) -> list[str]:
    """
    Returns the names of the columns. Raises `ConfigurationError` if the file is empty, or if two
    columns have the same name.
    """
    if is_parquet(path):
        # pyarrow is imported only when it is needed.
        import pyarrow.parquet

        return pyarrow.parquet.read_schema(local_path(path)).names
    try:
        fields = next(_reader(path), None)
    except csv.Error as error:
        raise ConfigurationError(f"{path}:1: {error}") from error
    if fields is None:
        raise ConfigurationError(_EMPTY.format(path))
    return _names(path, fields)


def _names(path: str | os.PathLike, fields: Sequence[str]) -> list[str]:
    names = [name.strip() for name in fields]
    for name in names:
        # Several columns may lack a name: spreadsheets write them for empty columns.
        if name and names.count(name) > 1:
            raise ConfigurationError(
                f"{path}:1: {names.count(name)} columns have the name {name}; give each its own"
            )
    return names


def _reader(path: str | os.PathLike) -> Any:
    """Returns the `csv.reader` of a table's lines."""
    delimiter = delimiter_of(path)
    assert delimiter is not None, f"{path} is no table"
    # A field may be as long as a line. The limit is the whole process's, so it is never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    lines = (f"{line}\n" for _, line in numbered_lines(path))
    if delimiter == "\t":
        return csv.reader(lines, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=delimiter, strict=True)
