"""A table goes in, the same table comes out, with the answers behind."""

import csv
import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_tasks.commands.in_allennlp.predict_command import write_answers
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.answer_lines import answer_inputs
from elmo_tasks.predictors.answer_tables import form_of
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor


class Lengths(TextPredictor):
    """Answers with the length of a text. It needs no model, and refuses some texts."""

    columns_of_answer = ("label", "probability")

    def __init__(self) -> None:
        self._dataset_reader: Any = SimpleNamespace(columns=None)

    def answers(self, inputs: list[Any]) -> list[Any]:
        texts = [each["sentence"] for each in inputs]
        if any("refuse" in text or not text.strip() for text in texts):
            raise ValueError("a text that is refused")
        return [{"label": label_of(text), "probability": 0.5} for text in texts]


def label_of(text: str) -> str:
    return f"{len(text)} characters"


def predicted(source: Path, output: Path, header: bool = True, **options: Any) -> None:
    """Writes the answers to a file as `predict` does."""
    predictor = Lengths()
    inputs = read_inputs(str(source), predictor, header=header, **options)
    form = form_of(output, inputs.kind, source=str(source))
    write_answers(answer_inputs(inputs, predictor), predictor, inputs, output, form, header)


NAMES = ["id", "sentence", "note"]
ROWS = [
    ["1", "A film, with a comma.", "x"],
    ["2", "", ""],
    ["3", 'She said: "Fine."\nThen she left.', "a\tb"],
    ["4", " \t", "blank"],
    ["5", "It won't do 😀", "y"],
]


def read(path: Path) -> Any:
    """Returns what pandas reads of a file, all of it as text."""
    if path.suffix == ".xlsx":
        return pandas.read_excel(path, dtype=str, keep_default_na=False)
    if path.suffix == ".parquet":
        return pandas.read_parquet(path)
    if path.suffix == ".jsonl":
        return pandas.read_json(path, lines=True, dtype=False)
    separator = "\t" if path.suffix == ".tsv" else ","
    return pandas.read_csv(
        path, sep=separator, dtype=str, keep_default_na=False, lineterminator="\n"
    )


def write(path: Path, rows: list[list[str]], names: list[str] = NAMES) -> None:
    table = pandas.DataFrame(rows, columns=names)
    if path.suffix == ".xlsx":
        table.to_excel(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


SUFFIXES = [".csv", ".tsv", ".xlsx", ".parquet"]


@pytest.mark.parametrize("target", [*SUFFIXES, ".jsonl"])
@pytest.mark.parametrize("source", SUFFIXES)
def test_a_table_comes_back_with_the_answers_behind(
    source: str, target: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if ".xlsx" in (source, target):
        pytest.importorskip("openpyxl")
    write(tmp_path / f"in{source}", ROWS)

    predicted(tmp_path / f"in{source}", tmp_path / f"out{target}")

    found = read(tmp_path / f"out{target}").astype(object).fillna("")
    label, probability = (
        [value if row[1].strip() else "" for row in ROWS for value in [of(row)]]
        for of in (lambda row: label_of(row[1]), lambda row: "0.5")
    )
    assert [str(each) for each in found["id"]] == [row[0] for row in ROWS]
    assert list(found["label"]) == label
    assert list(map(str, found["probability"])) == probability
    for index, name in enumerate(NAMES):
        assert list(map(str, found[name])) == [row[index] for row in ROWS]
    if target != ".jsonl":
        assert list(found) == [*NAMES, "label", "probability"]
    assert "no answer for 2 rows without a text" in caplog.text


def test_without_a_suffix_the_kind_of_the_input_decides() -> None:
    assert form_of("out", "tsv") == form_of("out.tsv.gz", "text") == "tsv"
    assert form_of("OUT.CSV", "text") == form_of("out.CSV.GZ", "text") == "csv"
    assert form_of("out.txt", "csv") == form_of(None, "csv") == form_of("out", "text") == "text"
    assert form_of("out", "json") == form_of(None, "json") == form_of("out.jsonl", "csv") == "json"
    assert form_of("out", "csv", in_json=True) == form_of(None, "csv", in_json=True) == "json"


# The output, the kind of the input, other arguments, and words of the message.
REFUSED: list[tuple[str, str, dict[str, Any], str]] = [
    ("out.csv", "csv", {"in_json": True}, "--jsonl writes JSON, and out.csv is the name of"),
    ("out.conll", "columns", {"in_json": True}, "out.conll is the name of"),
    ("out.conllu", "text", {}, "CoNLL-U has exactly ten columns, so a"),
    ("out.conll", "text", {"source": "in.txt"}, "out.conll .* in.txt are not a tag for each"),
    ("out.xlsx", "text", {}, "out.xlsx needs .* pip install openpyxl, or"),
    ("out.parquet", "text", {}, "out.parquet needs .* pip install pyarrow, or"),
]


@pytest.mark.parametrize(("output", "kind", "others", "words"), REFUSED)
def test_a_form_that_cannot_be_written_is_refused(
    output: str, kind: str, others: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmo_tasks.predictors.answer_tables.find_spec", lambda name: None)

    with pytest.raises(ConfigurationError, match=words):
        form_of(output, kind, **others)


def test_errors_have_a_column_that_is_only_there_when_there_is_one(tmp_path: Path) -> None:
    rows = [["1", "Fine.", "mine"], ["2", "refuse this", "yours"]]
    write(tmp_path / "in.csv", rows, ["label", "sentence", "error"])

    with pytest.raises(ValueError, match="in.csv:3: a text that is refused; .*: 1 of 2, in line 3"):
        predicted(tmp_path / "in.csv", tmp_path / "out.csv")

    assert (tmp_path / "out.csv").read_text() == (
        "input_label,sentence,input_error,label,probability,error\n"
        "1,Fine.,mine,5 characters,0.5,\n"
        "2,refuse this,yours,,,a text that is refused\n"
    )
    write(tmp_path / "in.csv", rows[:1], ["label", "sentence", "error"])
    predicted(tmp_path / "in.csv", tmp_path / "out.csv")
    first, second = (tmp_path / "out.csv").read_text().splitlines()
    assert first == "input_label,sentence,error,label,probability"
    assert second == "1,Fine.,mine,5 characters,0.5"


def test_what_was_answered_before_a_damaged_line_is_written(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"id,sentence\n" + 60 * b"1,Fine.\n" + b"2,caf\xe9\n")

    with pytest.raises(ValueError, match="in.csv:62: not UTF-8"):
        predicted(tmp_path / "in.csv", tmp_path / "out.csv")

    expected = "id,sentence,label,probability\n" + 60 * "1,Fine.,5 characters,0.5\n"
    assert (tmp_path / "out.csv").read_text() == expected


def test_a_table_without_a_header_has_none_behind(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("1,Fine.\n2,\n")

    predicted(tmp_path / "in.csv", tmp_path / "out.csv.gz", header=False, column="2")

    with gzip.open(tmp_path / "out.csv.gz", "rt") as file:
        assert file.read() == "1,Fine.,5 characters,0.5\n2,,,\n"


@pytest.mark.parametrize(
    ("source", "given", "target", "expected"),
    [
        ("in.csv", ";", "out.csv", ";"),
        ("in.csv", "|", "out.csv.gz", "|"),
        ("in.csv", "\t", "out.csv", "\t"),
        ("in.csv", ";", "out.tsv", "\t"),
        ("in.tsv", "\t", "out.csv", ","),
        ("in.tsv", ";", "out.csv", ";"),
        ("in.txt", ";", "out.csv", ";"),
        ("in.csv", ";", "out", ";"),
        ("in.jsonl", "", "out.csv", ","),
    ],
)
def test_the_delimiter_is_that_of_the_input_if_the_suffix_allows(
    source: str, given: str, target: str, expected: str, tmp_path: Path
) -> None:
    table = pandas.DataFrame(ROWS, columns=NAMES)
    if given:
        table.to_csv(tmp_path / source, index=False, sep=given)
    else:
        table[:1].to_json(tmp_path / source, orient="records", lines=True)

    predicted(tmp_path / source, tmp_path / target)

    found = pandas.read_csv(tmp_path / target, sep=expected, dtype=str, keep_default_na=False)
    assert list(found) == [*NAMES, "label", "probability"]
    assert found["sentence"][0] == ROWS[0][1] and found["label"][0] == label_of(ROWS[0][1])


def test_fields_of_json_are_columns_and_lists_are_json(tmp_path: Path) -> None:
    rows = [{"sentence": "a", "id": 1, "in": ["x", 1]}, {"id": "b", "sentence": "c", "more": True}]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    for suffix in (".csv", ".parquet"):
        predicted(tmp_path / "in.jsonl", tmp_path / f"out{suffix}")

    with (tmp_path / "out.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["sentence", "id", "in", "more", "label", "probability"],
            ["a", "1", '["x", 1]', "", "1 characters", "0.5"],
            ["c", "b", "", "True", "1 characters", "0.5"],
        ]
    found = pandas.read_parquet(tmp_path / "out.parquet")
    assert list(found["id"]) == ["1", "b"] and list(found["probability"]) == [0.5, 0.5]


def test_json_gives_back_the_fields_of_its_line_behind_the_label(tmp_path: Path) -> None:
    asked = {"id": 7, "label": "mine", "sentence": "It won't do.\n"}
    (tmp_path / "in.jsonl").write_text(json.dumps(asked) + "\n")

    predicted(tmp_path / "in.jsonl", tmp_path / "out")

    assert (tmp_path / "out").read_text() == (
        '{"label": "13 characters", "id": 7, "input_label": "mine", '
        '"sentence": "It won\'t do.\\n", "probability": 0.5}\n'
    )


def test_nan_of_the_input_is_a_missing_value_and_blames_no_model(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"sentence": "a", "score": NaN}\n')
    pandas.DataFrame({"sentence": ["a"], "score": [float("nan")]}).to_parquet(
        tmp_path / "in.parquet"
    )

    for suffix in (".jsonl", ".parquet"):
        predicted(tmp_path / f"in{suffix}", tmp_path / f"out{suffix}.jsonl")
        answer = json.loads((tmp_path / f"out{suffix}.jsonl").read_text())
        assert answer["label"] == "1 characters" and answer["score"] is None


def test_a_workbook_has_no_formulas_and_says_what_it_cuts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    write(tmp_path / "in.csv", [["1", "=1+1", "x" * 40_000], ["2", "a\x0b", ""]])

    predicted(tmp_path / "in.csv", tmp_path / "out.xlsx")

    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[1][1] == "=1+1" and sheet["B2"].data_type != "f" and rows[2][1] == "a\ufffd"
    assert len(rows[1][2]) == 32_767 and "out.xlsx: 1 cells cut to Excel's" in caplog.text


# Texts that tables make hard: delimiters, quotes, line ends, blanks, emoji, nothing at all.
pieces = st.sampled_from(
    ["a", "It won't", ",", ";", "|", '"', '""', "\n", "\t", " ", "😀", "é", "="]
)
cells = st.lists(pieces, max_size=6).map("".join)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=6),
    source=st.sampled_from([".csv", ".tsv", ".jsonl"]),
    target=st.sampled_from([".csv", ".tsv", ".jsonl"]),
)
def test_random_rows_come_back_in_their_order(
    rows: list[tuple[str, str]], source: str, target: str, tmp_path: Path
) -> None:
    if source == ".tsv":
        # Between tabs, quotes may be ordinary characters, so that not every text can be told.
        rows = [(text.replace("\t", " "), note.replace("\t", " ")) for text, note in rows]
    named = [[f"id {index}", *row] for index, row in enumerate(rows)]
    write(tmp_path / f"in{source}", named)
    fails = source == ".jsonl" and any(not text.strip() for text, _ in rows)
    is_empty = not any(text.strip() for text, _ in rows)

    if is_empty or fails:
        with pytest.raises(ValueError):
            predicted(tmp_path / f"in{source}", tmp_path / f"out{target}")
    else:
        predicted(tmp_path / f"in{source}", tmp_path / f"out{target}")

    found = read(tmp_path / f"out{target}").astype(object).fillna("")
    for index, name in enumerate(NAMES):
        assert list(found[name]) == [row[index] for row in named]
    labels = [label_of(text) if text.strip() else "" for text, _ in rows]
    assert source == ".jsonl" or list(found["label"]) == labels
