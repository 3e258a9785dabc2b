"""The rows of tables: CSV, TSV and Excel."""

import csv
import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO

from elmo_tasks.common.errors import ConfigurationError

# The number of the line at which a row begins, and the row's fields.
Row = tuple[int, list[Any]]


def table_rows(lines: Iterator[tuple[int, str]], name: str, kind: str) -> Iterator[Row]:
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
            # The header has quotes, but not around columns that this delimiter cuts.
            continue
    return ","


def sheet_rows(raw: BinaryIO, name: str) -> Iterator[Row]:
    """Yields the rows of the first sheet of an Excel workbook."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise ConfigurationError(
            f"{name} is a workbook of Excel: save it as CSV, or pip install openpyxl"
        ) from None
    try:
        sheet = openpyxl.load_workbook(raw, read_only=True, data_only=True).worksheets[0]
        # The file may say any size. Without it, a row that is left out has no cells.
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
            yield number, [*map(plain, row), *[None] * (width - len(row))]


def plain(value: Any) -> Any:
    """Returns a value in JSON's types. Dates and decimals become text; bytes are read as UTF-8."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return json.loads(json.dumps(value, default=str))


def with_names(
    rows: Iterator[Row], name: str, header: bool
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
                # Several columns may lack a name: spreadsheets write them for empty columns.
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
        raise ConfigurationError(f"{name} is empty: its first line must name the columns")
