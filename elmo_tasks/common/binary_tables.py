"""Reads tables that are no text: Parquet and the workbooks of Excel."""

import datetime
import json
import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from elmo_tasks.common.class_names import class_names, with_names
from elmo_tasks.common.columns import warn_once
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tab_rows import Row
from elmo_tasks.common.text import listed, parse_data
from elmo_tasks.common.text_files import at_line, refuse_damaged

# The number of rows of a sheet that show whether it is empty.
_FIRST_ROWS = 20

# The number of rows of Parquet that are read at once.
_PARQUET_ROWS = 1024


def parquet_rows(
    raw: BinaryIO, name: str, only: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, Any]]]:
    """
    Yields the number of each row of Parquet, and its values by the names of the columns: of the
    columns in `only`, or of all columns if the file has none of them.
    """
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(raw) as about:
            leaves = map(about.schema.column, range(len(about.schema)))
            # A value that many rows have is in memory once.
            texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        with pyarrow.parquet.ParquetFile(raw, read_dictionary=texts) as file:
            columns = [column for column in only if column in file.schema_arrow.names]
            names = class_names(file.schema_arrow.metadata)
            for batch in file.iter_batches(_PARQUET_ROWS, columns=columns or None):
                for row in range(len(batch)):
                    number += 1
                    values = {key: batch.column(key)[row] for key in batch.schema.names}
                    with at_line(name, number):
                        fields = {key: _to_json(value.as_py()) for key, value in values.items()}
                    for key in names.keys() & fields.keys():
                        fields[key] = with_names(fields[key], names[key])
                    yield number, fields
    except (pyarrow.ArrowException, OSError) as error:
        refuse_damaged(name, number, error)


def sheet_rows(raw: BinaryIO, name: str) -> Iterator[Row]:
    """Yields the rows of the first sheet of an Excel workbook. The log names the other sheets."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise ConfigurationError(
            f"{name} is a workbook of Excel: save it as CSV, or pip install openpyxl"
        ) from None
    try:
        sheet, *others = openpyxl.load_workbook(raw, read_only=True, data_only=True).worksheets
        others = [other.title for other in others if _has_cells(other)]
        # The file may state a wrong size. Without a size, rows that the file skips have no cells.
        sheet.reset_dimensions()
        rows = enumerate(sheet.iter_rows(values_only=True), start=1)
    except Exception as error:
        # openpyxl raises errors of many types for a damaged workbook.
        raise ValueError(f"{name} cannot be read as a workbook of Excel: {error!r}") from error
    if others:
        warn_once(f"{name}: only the sheet {sheet.title} is read, not {listed(others)}")
    width = None
    for number, row in rows:
        row = row[: max((end for end, cell in enumerate(row, 1) if cell is not None), default=0)]
        if row:
            # Cells at the end of a row may be missing.
            width = width or len(row)
            yield number, [*map(_cell, row), *[None] * (width - len(row))]


def _has_cells(sheet: Any) -> bool:
    """Returns whether one of the first rows of a sheet has a value."""
    rows = islice(sheet.iter_rows(values_only=True), _FIRST_ROWS)
    return any(cell is not None for row in rows for cell in row)


def _cell(value: Any) -> Any:
    """
    Returns the value of a cell as `_to_json` does. A date with the time 00:00 is written without
    the time.
    """
    is_day = isinstance(value, datetime.datetime) and value.time() == datetime.time()
    return value.date().isoformat() if is_day else _to_json(value)


def _to_json(value: Any) -> Any:
    """
    Returns a value in JSON's types. Dates and decimals become text; bytes are read as UTF-8; NaN
    and infinity become None.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return parse_data(json.dumps(value, default=str))
