from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from elmo_tasks.common.records import read_records

ROWS = [{"text": 'A "fine", warm film', "label": "good"}, {"text": "Dull.", "label": "bad"}]
FILES = {
    "rows.csv": 'text,label\n"A ""fine"", warm film",good\nDull.,bad\n',
    "rows.tsv": 'text\tlabel\nA "fine", warm film\tgood\nDull.\tbad\n',
    "rows.jsonl": '{"text": "A \\"fine\\", warm film", "label": "good"}\n\n'
    '{"text": "Dull.", "label": "bad"}\n',
}


def values(path: Path) -> list[dict[str, Any]]:
    return [record.values for record in read_records(path)]


@pytest.mark.parametrize("name", FILES)
def test_the_rows_of_every_format_are_the_same(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")

    assert values(tmp_path / name) == ROWS


def test_parquet_is_read_with_its_types_and_row_numbers(tmp_path: Path) -> None:
    rows = [*ROWS, {"text": None, "label": "bad"}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")

    assert values(tmp_path / "rows.parquet") == rows
    assert [record.line_number for record in read_records(tmp_path / "rows.parquet")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("rows.jsonl", '{"a": 1}\n[1]\n', r"rows.jsonl:2: expected a JSON object, not '\[1\]'"),
        ("rows.jsonl", '{"a": 1\n', "rows.jsonl:1: expected a JSON object"),
        ("rows.csv", "a,b\n1\n", "rows.csv:2: expected 2 fields"),
        ("rows.parquet", "text", "rows.parquet: cannot be read after row 0"),
        ("rows.txt", "text", "rows.txt:1: expected .*; the name of a table ends in .csv, .tsv or"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(
    name: str, content: str, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")

    with pytest.raises(ValueError, match=complaint):
        values(tmp_path / name)
