from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.common.spelling import listed
from elmo_tasks.common.tables import choose_column, read_table
from elmo_tasks.common.text_files import lines_of, refuse_damaged

# The columns, or fields of JSON, that are read if the user names none.
_COLUMNS = ("sentence", "text")

# Rows of a Parquet file that are read at once.
_ROWS = 1024


class Line(NamedTuple):
    """
    A line of a text.

    # Parameters

    file: The path or address of its file.
    number: The number of the line in its file, from 1; in a Parquet file, the number of the row.
    text: The tokens with a blank between them, or raw text.
    fault: Why the line cannot be read. The text of such a line is empty.
    """

    file: str
    number: int
    text: str
    fault: str | None = None


def text_lines(file: str, raw: BinaryIO) -> Iterator[Line]:
    """Yields the lines of a text file, line ends included (see `lines_of`)."""
    return (Line(file, *line) for line in lines_of(raw, file))


def table_lines(file: str, column: str | None) -> Iterator[Line]:
    """Yields a column of a table. Raises `ValueError` as `read_table` does."""
    name = choose_column(file, column, _COLUMNS)
    for row in read_table(file):
        # A field may have line ends.
        yield Line(file, row.line_number, " ".join(row.values[name].split()))


def json_line(line: Line, column: str | None) -> Line:
    """Takes the sentence out of a line's JSON object."""
    if line.fault is not None:
        return line
    try:
        fields = parse_json(line.text)
        if not isinstance(fields, dict):
            raise ValueError("expected a JSON object")
        known = _COLUMNS if column is None else (column,)
        name = next((name for name in known if name in fields), None)
        if name is None:
            raise ValueError(f"the JSON object has no field {' or '.join(known)}")
        return line._replace(text=_joined(fields[name]))
    except ValueError as error:
        return line._replace(text="", fault=str(error))


def parquet_lines(file: str, raw: BinaryIO, column: str | None) -> Iterator[Line]:
    """
    Yields a column of a Parquet file.

    # Raises

    `ConfigurationError`: There is no such column.
    `ValueError`: The file is damaged.
    """
    # pyarrow is imported only when it is needed.
    import pyarrow.parquet

    number = 0
    try:
        parquet = pyarrow.parquet.ParquetFile(raw)
        name = _parquet_column(file, parquet.schema_arrow.names, column)
        batches = parquet.iter_batches(_ROWS, columns=[name])
        values = (value for batch in batches for value in batch.column(0))
        for number, value in enumerate(values, start=1):
            yield _parquet_line(file, number, value)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        refuse_damaged(file, number, error)


def _parquet_column(file: str, names: list[str], column: str | None) -> str:
    known = _COLUMNS if column is None else (column,)
    for name in known:
        if name in names:
            return name
    raise ConfigurationError(
        f"{file}: there is no column {' or '.join(known)}; choose one of {listed(names)}"
    )


def _parquet_line(file: str, number: int, value: Any) -> Line:
    try:
        return Line(file, number, _joined(value.as_py()))
    except ValueError as error:
        return Line(file, number, "", str(error))


def _joined(value: Any) -> str:
    """Returns a text, or a list of tokens, as tokens with a blank between them."""
    if isinstance(value, list) and all(isinstance(token, str) for token in value):
        if bad := [token for token in value if len(token.split()) != 1]:
            raise ValueError(f"{bad[0]!r} is no token, because it is empty or has white space")
        return " ".join(value)
    if not isinstance(value, str):
        raise ValueError(f"expected a text or a list of tokens, not {value!r:.80}")
    return " ".join(value.split())
