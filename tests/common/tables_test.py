import csv
import gzip
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from elmo_tasks.common import tables
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tables import check_header, choose_column, delimiter_of, read_table


def rows_of(path: Path) -> list[tuple[int, list[str]]]:
    return [(row.line_number, list(row.values.values())) for row in read_table(path)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", ","),
        ("a.b.tsv.gz", "\t"),
        ("a.csv.xz", ","),
        ("a.tsv.bz2", "\t"),
        ("a.txt", None),
        ("csv", None),
        ("a.gz", None),
        ("a.csv.txt", None),
    ],
)
def test_a_table_is_known_by_its_suffix(name: str, expected: str | None) -> None:
    assert delimiter_of(Path("folder.csv") / name) == expected


def test_rows_have_the_lines_at_which_they_begin(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        '\ufeffid, text\r\n1,"A ""film"", with\na second line"\n\n3,x\n', encoding="utf-8"
    )

    rows = list(read_table(path))

    assert [row.line_number for row in rows] == [2, 5]
    assert rows[0].values == {"id": "1", "text": 'A "film", with\na second line'}
    assert rows[1].values == {"id": "3", "text": "x"}


def test_quotes_of_a_tsv_are_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(b'id\ttext\n1\t"Now, he said\n'))

    assert rows_of(path) == [(2, ["1", '"Now, he said'])]


# `csv` takes each of these for the end of a line, as a text file does, or they are not UTF-8.
TEXT = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=9)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=6))
def test_what_pythons_writer_wrote_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("table") / "a.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("one", "two"), *rows])

    assert [tuple(row.values.values()) for row in read_table(path)] == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", ":3: expected 2 fields, as in the header, but got 1"),
        ('a,b\n"1\n2",3,4\n', ":2: expected 2 fields, as in the header, but got 3"),
        ('a,b\n1,"2\n', ":2: unexpected end of data"),
        ("a, b,a\n1,2,3\n", ":1: 2 columns have the name a; give each its own"),
        ("", " is empty: its first line must name the columns"),
    ],
)
def test_a_wrong_row_is_named_by_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ValueError) as caught:
        list(read_table(path))

    assert str(caught.value).startswith(f"{path}{message}")


def test_a_field_may_be_as_long_as_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"text\n{'x' * 200_000}\n")
    before = csv.field_size_limit(100_000)

    assert rows_of(path) == [(2, ["x" * 200_000])]

    # A field in quotes may have several lines.
    monkeypatch.setattr(tables, "MAX_LINE_BYTES", 100_000)
    csv.field_size_limit(100_000)
    with pytest.raises(ValueError, match="a.csv:2: field larger than field limit"):
        rows_of(path)
    csv.field_size_limit(before)


def test_columns_without_a_name_may_be_several(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,,\nhere,1,2\n")

    assert choose_column(path, None, ("text",)) == "text"
    assert [row.values["text"] for row in read_table(path)] == ["here"]


def test_a_column_is_not_chosen_from_two_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text\tid\ttext\n")

    with pytest.raises(ConfigurationError, match="a.tsv:1: 2 columns have the name text"):
        choose_column(path, None, ("text",))


def test_a_column_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,"text",review\n')

    assert choose_column(path, None, ("sentence", "text")) == "text"
    assert choose_column(path, "review", ("sentence", "text")) == "review"
    for column, wanted in {None: "sentence or words", "words": "words"}.items():
        with pytest.raises(
            ConfigurationError, match=f"a.csv:1: there is no column {wanted}; choose one of id, te"
        ):
            choose_column(path, column, ("sentence", "words"))


def test_the_header_is_read_as_the_rows_are(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('"text"\tid\nhere\t1\n')
    (tmp_path / "a.csv").write_text('"text",id\nhere,1\n')

    assert choose_column(tmp_path / "a.csv", None, ("text",)) == "text"
    with pytest.raises(ConfigurationError, match='no column text; choose one of "text", id'):
        choose_column(tmp_path / "a.tsv", None, ("text",))


def test_all_expected_columns_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\tpassage\tquestion\n")

    check_header(path, ("question", "passage"))
    for columns, message in {
        ("passage", "answer"): "a.tsv:1: expected the columns passage and answer, but got id, pas",
        ("premise", "hypothesis"): "expected the columns premise and hypothesis, but got id, pas",
    }.items():
        with pytest.raises(ConfigurationError, match=message):
            check_header(path, columns)


def test_the_columns_of_an_empty_file_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("")

    with pytest.raises(ConfigurationError, match="a.csv is empty: its first line must name"):
        choose_column(path, None, ("sentence", "text"))
