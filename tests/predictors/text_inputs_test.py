import csv
import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor

CONLL_2003 = "-DOCSTART- -X- O O\n\nEve NNP B-NP B-PER\nsings VBZ B-VP O\n\nYes UH O O\n"
CONLL_U = """\
# text = I can't
1\tI\tI\tPRON\t_\t_\t0\troot\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t0\troot\t_\t_
3\tn't\tnot\tPART\t_\t_\t0\troot\t_\t_
3.1\tgo\tgo\tVERB\t_\t_\t_\t_\t_\t_

1\t10 km\t10\tNUM\t_\t_\t0\troot\t_\t_
"""


class Sentences(TextPredictor):
    """A predictor of sentences that needs no model."""

    input_names = ("sentence",)
    other_names = ("tokens",)
    columns: list[str] | None = ["word", "pos", "chunk", "ner"]

    def __init__(self, column: str | None = None) -> None:
        self.column = column
        self.split = False
        self._dataset_reader: Any = SimpleNamespace(columns=self.columns)


ROWS = [
    {"id": "7", "tokens": "c", "sentence": "A film. A bore."},
    {"id": "8", "tokens": "", "sentence": "Fine, really."},
]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.jsonl"])
def test_rows_of_every_kind_of_table_have_a_sentence_and_further_fields(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if name == "a.parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    elif name == "a.jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    else:
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, ROWS[0], dialect="excel-tab" if "tsv" in name else "excel")
            table.writeheader()
            table.writerows(ROWS)

    inputs = read_inputs(str(path), Sentences())

    # A column that is not read, but has the name of a field, gets another name.
    other = "tokens" if name == "a.jsonl" else "input_tokens"
    expected = [
        {"sentence": row["sentence"], "id": row["id"], other: row["tokens"]} for row in ROWS
    ]
    assert [each.values for each in inputs.records] == expected
    assert inputs.are_json == (name == "a.jsonl")


def test_each_sentence_of_a_row_has_its_further_fields(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("id,,sentence,review\n7,x,b,A film. A bore.\n")
    predictor = Sentences("review")
    predictor.split = True

    found = [each.values for each in read_inputs(str(path), predictor).records]

    further = {"id": "7", "input_sentence": "b"}
    assert found == [{"sentence": "A film.", **further}, {"sentence": "A bore.", **further}]


class WithoutColumns(Sentences):
    columns = None


class Documents(Sentences):
    input_names = ("document",)
    other_names = ("sentences",)


def found(path: Path, predictor: TextPredictor) -> list[tuple[int, list[str]]]:
    inputs = read_inputs(str(path), predictor)
    assert not inputs.are_json
    return [(each.line, each.values["tokens"]) for each in inputs.records]


@pytest.mark.parametrize("name", ["a.conll", "a.txt", "a.v4_gold_conll", "a.conll.gz"])
def test_a_file_in_the_columns_of_the_reader_has_the_words_of_sentences(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    packed = name.endswith("gz")
    path.write_bytes(gzip.compress(CONLL_2003.encode()) if packed else CONLL_2003.encode())

    assert found(path, Sentences()) == [(3, ["Eve", "sings"]), (6, ["Yes"])]


def test_the_words_of_conll_u_are_those_with_a_number(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(CONLL_U)

    assert found(path, WithoutColumns()) == [(2, ["I", "ca", "n't"]), (8, ["10 km"])]


def test_a_file_of_one_column_has_words(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Eve\nsings\n\nYes\n")

    for predictor in (Sentences(), WithoutColumns()):
        assert found(path, predictor) == [(1, ["Eve", "sings"]), (4, ["Yes"])]


@pytest.mark.parametrize(
    ("name", "text", "predictor", "complaint"),
    [
        ("a.conll", "Eve B-PER\n", Sentences(), r":1: expected 4 columns \(word .*, but got 2"),
        ("a.conll", "Eve B-PER\n", WithoutColumns(), ":1: the file is in columns, and the model"),
        ("a.conll", "Eve B-PER\n", Documents(), " is in columns: `predict` reads columns only"),
        ("a.txt", "#begin document (a)\nEve O\n", Documents(), " is in columns: `predict`"),
        (
            "a.conllu",
            "1\tEve\n",
            Sentences(),
            ":1: expected 10 columns .*, separated by tabs, but got 2",
        ),
        ("a.conll", "Eve O\n", Sentences("word"), r" is not a table .* so it has no column word"),
    ],
)
def test_another_file_in_columns_is_refused(
    name: str, text: str, predictor: TextPredictor, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(ValueError, match=f"{path}{complaint}"):
        found(path, predictor)


def test_columns_on_the_standard_input_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CONLL_2003.encode())))

    with pytest.raises(ConfigurationError, match="standard input is in columns: `predict`"):
        found(Path("-"), Sentences())
