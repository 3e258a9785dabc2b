import csv
import logging
import re
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from elmo_tasks.common.records import kind_of, read_rows
from tests.helpers.dressed_files import DELIMITERS, DRESSES, NAMES, ROWS, Dress, as_read


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def values(path: Path, header: bool = True) -> list[tuple[str, ...]]:
    return [tuple(row.values.values()) for row in read_rows(path, header)]


@given(ROWS, DRESSES)
@example([("a\tb", "good")], Dress("tabs", "utf-8", "\n", "", False, False, True, ".tsv"))
@example([("a\nb", "x")], Dress("commas", "utf-8", "\r", "", True, True, True, ".csv"))
@example([("a, b", "x; y")], Dress("semicolons", "utf-8", "\n", "", False, False, False, ".csv"))
def test_rows_in_any_dress_are_read_back_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], dress: Dress
) -> None:
    path = dress.write(tmp_path_factory.mktemp("rows"), rows)
    is_table = dress.form in DELIMITERS
    read = as_read if is_table else str

    try:
        found = values(path, dress.header)
    except ValueError as error:
        assert "\n" not in str(error) and str(path) in str(error)
        # What a spreadsheet or pandas writes is never refused.
        has_returns = any("\r" in text or "\n" in text for row in rows for text in row)
        assert is_table or dress.encoding in ("utf-16-le", "utf-16-be")
        assert (
            dress.encoding in ("utf-16-le", "utf-16-be")
            or (dress.line_end == "\r" and has_returns)
            or not (dress.header or dress.sep_line)
        ), error
    else:
        assert found == [tuple(map(read, row)) for row in rows]


RAW = st.text("ab \"',;|é", max_size=8).filter(lambda text: '""' not in text)


@given(st.lists(st.tuples(RAW, RAW), min_size=1, max_size=6))
def test_quotes_in_a_table_with_tabs_are_ordinary_characters(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    lines = ["\t".join(row) + "\n" for row in [NAMES, *rows]]
    path = written(tmp_path_factory.mktemp("raw") / "raw.tsv", "".join(lines))

    assert values(path) == rows


# The name and the content of a file, and its rows.
READ: list[tuple[str, str | bytes, list[tuple[Any, ...]]]] = [
    ("a.csv", "text|label\nOne, two.|x\n", [("One, two.", "x")]),
    ("a.csv", "\n\ntext;label\nOne, two.;x\n", [("One, two.", "x")]),
    ("a.csv", 'sep=;\ntext;label\n"One; two.";x\n', [("One; two.", "x")]),
    ("a.csv", "text,label\rOne.,x\rTwo.,y\r", [("One.", "x"), ("Two.", "y")]),
    ("a.tsv", "text,label\nOne.,x\n", [("One.", "x")]),
    ("a", "text\tlabel\nOne, two.\tx\n", [("One, two.", "x")]),
    ("a.txt", '[\n {"text": "One."},\n {"text": "Two."}\n]\n', [("One.",), ("Two.",)]),
    ("a.csv", '{"text": "One."}\n', [("One.",)]),
    ("a.tsv", 'text\tlabel\n"One ""fine""\n\ntwo."\tx\nA "b".\ty\n', [
        ('One "fine"\n\ntwo.', "x"), ('A "b".', "y")
    ]),
    ("a.tsv", 'label\ttext\nx\t"One\ntwo."\ny\t"Lone.\nx\tTwo."\n', [
        ("x", "One\ntwo."), ("y", '"Lone.'), ("x", 'Two."')
    ]),
    ("a.csv", "text,label\nOne.,x\n   \n,,,\nTwo.,y\n", [("One.", "x"), ("Two.", "y")]),
    ("a.txt", "__label__x __label__y One.\n\n__label__x Two.\n", [
        (["x", "y"], "One."), ("x", "Two.")
    ]),
    ("a.csv", "text,label\nOne.,x\n".encode("utf-16-le"), [("One.", "x")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "rows"), READ)
def test_a_table_is_known_by_its_content(
    name: str, content: str | bytes, rows: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    assert values(written(tmp_path / name, content)) == rows


# The content of a file, and words of the message.
REFUSED: list[tuple[str, str]] = [
    ('text,label\n"One,x\n"Two.",y\n', ":2: ',' expected after '\"': a text in quotes runs over 2 "
     "lines, to line 3; is a quote of it not closed"),
    ('text,label\n"One,x\nTwo,y\nThree,x\n', ":2: unexpected end of data: a text in quotes runs "
     "over 3 lines, to line 4"),
    ('text,label\n"a \\"b\\" c",x\n', ':2: .*a quote in quotes must be "", not .*sed'),
    ('text,label\n"One,x\nTwo",y,z\n', ":2: expected 2 fields, .* 3, in a row that runs over 2"),
    ("text,label\nOne\0,x\n", ":2: has a NUL character, which no text has; take it out: tr -d "),
    ("One; two,x\n", ": commas and semicolons both give the first rows equal numbers of fields; "
     "write a first line that names the delimiter: sep=, or sep=;"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "words"), REFUSED)
def test_a_table_that_cannot_be_read_is_refused_with_its_line(
    content: str, words: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.csv", content)

    with pytest.raises(ValueError, match=f"a.csv{words}"):
        values(path, header=content.startswith("text"))


def test_a_quote_that_swallows_rows_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = ["One,x", '"Two,y', "Three,x", 'Four",y', "Five,x"]
    path = written(tmp_path / "a.csv", "\n".join(["text,label", *rows]))

    with caplog.at_level(logging.WARNING):
        assert len(values(path)) == 3
    assert "a.csv:3: a text runs over 3 lines, and each looks like a row" in caplog.text


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('"a\tb\nc"\tx\n', "a.tsv:3: its quote is an ordinary character here, .*1 such lines"),
        ('y\t"Lone.\nx\tTwo."\n', "a.tsv:3: its quote is"),
        ('"Lone.\ty\nTwo.\tx\n', ""),
        ('"Lone"\ty\n"Two"\tx\n', ""),
    ],
)
def test_a_quote_of_a_table_with_tabs_that_may_open_a_text_is_said(
    rows: str, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path / "a.tsv", f"text\tlabel\nOne.\tx\n{rows}Three.\tx\n")

    with caplog.at_level(logging.WARNING):
        assert len(values(path)) == 4
    assert re.search(said, caplog.text) if said else not caplog.text


def test_texts_of_several_lines_are_no_rows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([NAMES, *[("Cold, wet.\nFine, dry.\nWarm.", "x")] * 2])

    with caplog.at_level(logging.WARNING):
        list(read_rows(path))
    assert not caplog.text


@pytest.mark.parametrize(
    ("name", "start", "kind"),
    [
        ("a.csv", b"PAR1\0\0", "parquet"),
        ("a.csv", b'[{"a": 1}]', "json"),
        ("a", b"[1] a note\n", "text"),
        ("a.json", b"text,label\n", "json"),
        ("a.txt", b"-DOCSTART- O\n", "columns"),
        ("a.csv", b"-DOCSTART- O\n", "csv"),
        ("a.conll", b'{"a": 1}\n', "columns"),
        ("a.txt.gz", b"\x1f\x8bdamaged", "text"),
        ("a.txt", b"__label__x One.", "fasttext"),
    ],
)
def test_the_content_decides_where_the_suffix_says_another_table(
    name: str, start: bytes, kind: str, tmp_path: Path
) -> None:
    assert kind_of(written(tmp_path / name, start)) == kind


def test_of_several_columns_without_a_name_each_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "spam.csv", "v1,v2,,\nham,Fine,and,well\n")

    assert [row.values for row in read_rows(path)] == [
        {"v1": "ham", "v2": "Fine", "column_3": "and", "column_4": "well"}
    ]
