import csv
import datetime
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import kind_of, read_records

NAMES = ["text", "label"]
Rows = list[tuple[str, str]]


def write_table(path: Path, rows: Rows, **settings: Any) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, **settings).writerows([NAMES, *rows])


def write_tsv(path: Path, rows: Rows) -> None:
    lines = ["\t".join(row) for row in [tuple(NAMES), *rows]]
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())


def write_json(path: Path, rows: Rows) -> None:
    lines = [json.dumps(dict(zip(NAMES, row))) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))


def write_parquet(path: Path, rows: Rows) -> None:
    columns = {name: [row[index] for row in rows] for index, name in enumerate(NAMES)}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def write_excel(path: Path, rows: Rows) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [NAMES, *rows]:
        book.active.append(row)
    book.save(path)


WRITERS: dict[str, Callable[[Path, Rows], None]] = {
    "a.csv": lambda path, rows: write_table(path, rows, quoting=csv.QUOTE_ALL),
    "semicolons.csv": lambda path, rows: write_table(
        path, rows, delimiter=";", quoting=csv.QUOTE_ALL
    ),
    "tabs.csv": lambda path, rows: write_table(
        path, rows, dialect="excel-tab", quoting=csv.QUOTE_ALL
    ),
    "a.tsv": write_tsv,
    "a.jsonl": write_json,
    "a.parquet": write_parquet,
}

# `csv` takes some of these for the end of a line, or they are not UTF-8; a tab ends a field of TSV.
TEXT = st.text(st.characters(exclude_characters="\t\r\n\0", exclude_categories=["Cs"]), max_size=9)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
def test_the_rows_of_every_format_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows
) -> None:
    folder = tmp_path_factory.mktemp("records")
    for name, write in WRITERS.items():
        write(folder / name, rows)

        records = list(read_records(folder / name))

        assert [tuple(record.values.items()) for record in records] == [
            tuple(zip(NAMES, row)) for row in rows
        ]
        first = 1 if name in ("a.jsonl", "a.parquet") else 2
        lines = [record.line for record in records]
        assert lines == list(range(first, first + len(rows)))
        assert {record.file for record in records} == {str(folder / name)}


def test_the_rows_of_a_workbook_are_those_of_a_table(tmp_path: Path) -> None:
    rows = [("It's 'fine', \"he\" said;", "good"), ("Dull.", "bad")]
    write_excel(tmp_path / "a.xlsx", rows)

    records = list(read_records(tmp_path / "a.xlsx"))

    assert [tuple(record.values.values()) for record in records] == rows
    assert [record.line for record in records] == [2, 3]


def test_the_sheets_that_are_not_read_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(["text"])
    book.create_sheet("more").append(["text"])
    book.create_sheet("empty")
    book.save(tmp_path / "two.xlsx")

    assert not list(read_records(tmp_path / "two.xlsx"))
    assert caplog.messages == [f"{tmp_path / 'two.xlsx'}: only the sheet Sheet is read, not more"]


def test_a_header_in_the_middle_is_no_row(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "joined.csv"
    path.write_text("id, text\n1,Rain\nid, text\n2,text\n")

    assert [record.values for record in read_records(path)] == [
        {"id": "1", "text": "Rain"},
        {"id": "2", "text": "text"},
    ]
    assert caplog.messages == [
        f"{path}: rows that repeat the header and are left out: 1, the first in line 3"
    ]


def test_a_workbook_without_openpyxl_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.xlsx").touch()
    monkeypatch.setitem(sys.modules, "openpyxl", None)

    with pytest.raises(ConfigurationError, match="a.xlsx .*save it as CSV, or pip install openp"):
        list(read_records(tmp_path / "a.xlsx"))


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt", "a.conllu"])
def test_compressed_files_and_the_standard_input_have_the_same_records(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = {
        "a.csv": "\ufefftext,n\nNaïve,1\n",
        "a.tsv": "text\tn\nNaïve\t1\n",
        "a.jsonl": '\n{"text": "Naïve", "n": [1, null]}\n',
        "a.txt": "Naïve\n\n crew \n",
        "a.conllu": "1\tNaïve" + 8 * "\t_" + "\n",
    }[name].encode()
    pack: Any = {".gz": gzip.compress, ".xz": lzma.compress}
    path = tmp_path / f"{name}{suffix}"
    path.write_bytes(pack.get(suffix, bytes)(content))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    records = list(read_records(path))

    assert records and "Naïve" in str(records[0].values)
    streamed = list(read_records("-", kind_of(path)))
    assert [each._replace(file=str(path)) for each in streamed] == records
    assert {each.file for each in streamed} == {"standard input"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_encoding_is_known_by_its_byte_order_mark(
    encoding: str, pack: Any, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    mark = "\ufeff" if encoding.endswith("e") else ""
    path.write_bytes(pack(f"{mark}text;label\r\n\u2028Größe 😀\u0d0a;gut\r\n".encode(encoding)))

    (record,) = read_records(path)

    assert record == (str(path), 2, {"text": "\u2028Größe 😀\u0d0a", "label": "gut"})


def test_fields_in_quotes_may_have_lines_and_rows_have_the_line_at_which_they_begin(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'id, text\r\n1,"A ""film"", with\na second line"\n\n3,x\n')

    records = list(read_records(path))

    assert [(record.line, record.values) for record in records] == [
        (2, {"id": "1", "text": 'A "film", with\na second line'}),
        (5, {"id": "3", "text": "x"}),
    ]


def test_columns_without_a_name_may_be_several(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,,\nhere,1,2\n")

    assert [row.values["text"] for row in read_records(tmp_path / "a.csv")] == ["here"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.xlsx"])
def test_the_columns_of_a_table_without_a_header_have_numbers(name: str, tmp_path: Path) -> None:
    {"a.csv": write_table, "a.tsv": write_tsv, "a.xlsx": write_excel}[name](
        tmp_path / name, [("Dull.", "bad")]
    )

    records = list(read_records(tmp_path / name, header=False))

    assert [record.values for record in records] == [
        {"1": "text", "2": "label"},
        {"1": "Dull.", "2": "bad"},
    ]


def test_the_values_of_parquet_keep_their_types_or_become_text(tmp_path: Path) -> None:
    rows = [{"a": None, "b": [1, 2.5], "c": {"d": True}, "e": b"caf\xc3\xa9"}]
    table = pyarrow.Table.from_pylist(rows)
    days = pyarrow.array([0], pyarrow.date32())
    pyarrow.parquet.write_table(table.append_column("day", days), tmp_path / "a.parquet")

    (record,) = read_records(tmp_path / "a.parquet")

    assert record.values == {**rows[0], "e": "café", "day": "1970-01-01"}


# The name, the content, and words of the message.
REFUSED: list[tuple[str, str | bytes, str]] = [
    ("a.jsonl", '{"a": 1}\n[1]\n', r"a.jsonl:2: .* not '\[1\]'"),
    ("a.jsonl", '{"a": 1\n', "a.jsonl:1: "),
    ("a.jsonl", '{"a": "\\ud800"}\n', "a.jsonl:1: not JSON: .* half of a surrogate pair"),
    ("a.csv", "a,b\n1,2\n3\n", "a.csv:3: expected 2 fields, as in the header, but got 1"),
    ("a.csv", "a,b\n1,2,3\n", "but got 3; a text with the delimiter in it must be in quotes"),
    (
        "a.csv",
        "A table\na,b\n1,2\n",
        "a.csv:2: .* got 2; a text .* quotes, and no line may be above",
    ),
    ("a.conll", "Eve\tO\n#\tx\ty\n", "got 3: '# x y'; remove the line if it is a comment"),
    ("a.csv", 'a,b\n"1\n2",3,4\n', "a.csv:2: expected 2 fields, as in the header, but got 3"),
    ("a.csv", 'a,b\n1,"2\n', "a.csv:2: unexpected end of data"),
    ("a.csv", "a, b,a\n1,2,3\n", "a.csv:1: several columns have the name a; give each column a"),
    ("a.csv", b"a,b\n1,caf\xe9\n", "a.csv:2: not UTF-8: .*iconv -f WINDOWS-1252 -t UTF-8 .*a.csv"),
    ("a.csv", b"\xff\xfea\0,\0b\0\n\0\x00\xdc", "a.csv: not UTF-16 after line 0"),
    ("a.xlsx", "text", "a.xlsx cannot be read as a workbook of Excel"),
    ("a.parquet", "text", "a.parquet: "),
    ("a.conllu", "1\tEve\n", "a.conllu:1: expected 10 columns"),
    ("a.conll", "Eve O\nsings\n", "a.conll:2: expected 2 columns"),
]


@pytest.mark.parametrize(("name", "content", "words"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_line(
    name: str, content: str | bytes, words: str, tmp_path: Path
) -> None:
    if name == "a.xlsx":
        pytest.importorskip("openpyxl")
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)

    with pytest.raises(ValueError, match=words):
        list(read_records(tmp_path / name))


def test_an_empty_table_without_a_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("")

    with pytest.raises(ValueError, match="a.csv is empty: its first line must be a row"):
        list(read_records(tmp_path / "a.csv", header=False))


def test_a_field_may_have_any_length(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"text\n{'x' * 200_000}\n")

    assert [record.values for record in read_records(path)] == [{"text": "x" * 200_000}]


@pytest.mark.parametrize(
    ("name", "first_line", "kind"),
    [
        ("a.csv", "", "csv"),
        ("a.b.tsv.gz", "", "tsv"),
        ("a.xlsx", "", "xlsx"),
        ("a.ndjson.xz", "", "json"),
        ("a.conllu", "", "conllu"),
        ("a.v4_gold_conll", "", "columns"),
        ("A.CSV", "", "csv"),
        ("A.CONLLU.GZ", "", "conllu"),
        ("csv", "", "text"),
        ("a.csv.txt", ' {"a": 1}', "json"),
        ("-", "#begin document (a)", "columns"),
        ("a.gz", "#beginning document", "text"),
    ],
)
def test_a_kind_is_known_by_the_name_and_then_by_the_first_line(
    name: str, first_line: str, kind: str
) -> None:
    assert kind_of(Path("folder.csv") / name, first_line) == kind


def test_a_value_of_many_rows_of_parquet_is_in_memory_once(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "in.parquet"
    texts = pyarrow.DictionaryArray.from_arrays([0] * 1000, ["a" * 2**20])
    parquet.write_table(pyarrow.table({"text": texts}), path, store_schema=False)

    first = next(read_records(path))

    assert len(first.values["text"]) == 2**20
    assert pyarrow.total_allocated_bytes() < 2**25


def test_cells_of_excel_with_dates_and_numbers_are_text_that_reads_as_in_the_sheet(
    tmp_path: Path,
) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    noon = datetime.datetime(2026, 3, 1, 12, 30)
    book.active.append(["day", "time", "clock", "count", "text"])
    book.active.append([datetime.date(2026, 3, 1), noon, noon.time(), 3, "1 March"])
    book.save(tmp_path / "dates.xlsx")

    (record,) = read_records(tmp_path / "dates.xlsx")

    assert record.values == {
        "day": "2026-03-01",
        "time": "2026-03-01 12:30:00",
        "clock": "12:30:00",
        "count": 3,
        "text": "1 March",
    }
