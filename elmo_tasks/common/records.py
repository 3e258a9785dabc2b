"""Reads the rows of a table, or the JSON objects of a file."""

import json
import os
from collections.abc import Iterator
from typing import Any

from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.common.tables import Record, delimiter_of, is_parquet, read_table
from elmo_tasks.common.text_files import at_line, numbered_lines

_BATCH = 1024


def read_records(path: str | os.PathLike) -> Iterator[Record]:
    """
    Yields the rows of a table (`.csv`, `.tsv`, `.parquet`). From any other file, yields the JSON
    object on each line. The file is read as a stream. Empty lines are skipped.

    # Raises

    `ValueError`: A row cannot be read; the message names file and line.
    """
    if delimiter_of(path) is not None:
        yield from read_table(path)
    elif is_parquet(path):
        yield from read_parquet(path)
    else:
        for line_number, line in numbered_lines(path):
            if line.strip():
                with at_line(path, line_number):
                    yield Record(line_number, _object(line))


def read_parquet(path: str | os.PathLike) -> Iterator[Record]:
    """Yields the rows of a Parquet file. Raises `ValueError` if it cannot be read."""
    # pyarrow is imported only when it is needed.
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(local_path(path)) as file:
            for batch in file.iter_batches(_BATCH):
                for values in batch.to_pylist():
                    number += 1
                    # Dates and decimals become text.
                    yield Record(number, json.loads(json.dumps(values, default=str)))
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: cannot be read after row {number}: {error}") from error


def _object(line: str) -> dict[str, Any]:
    try:
        value = parse_json(line)
    except json.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise ValueError(
            f"expected a JSON object, not {line[:40]!r}; the name of a table ends in .csv, .tsv or "
            ".parquet"
        )
    return value
