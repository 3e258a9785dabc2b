"""What `predict` reads of each kind of file; `tests/common/records_test.py` tests the kinds."""

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor

CONLL_2003 = "-DOCSTART- -X- O O\n\nEve NNP B-NP B-PER\nsings VBZ B-VP O\n\nYes UH O O\n"
CONLL_U = "".join(
    f"{index}\t{word}\t{word}\tX\t_\t_\t0\troot\t_\t_\n"
    for index, word in (("1-2", "can't"), (1, "ca"), (2, "n't"))
)


class Sentences(TextPredictor):
    """A predictor of sentences that needs no model."""

    columns: list[str] | None = ["word", "pos", "chunk", "ner"]

    def __init__(self) -> None:
        self._dataset_reader: Any = SimpleNamespace(columns=self.columns)


class WithoutColumns(Sentences):
    columns = None


class Documents(Sentences):
    input_names = ("document",)
    other_names = ("sentences",)


ROWS = [
    {"id": "7", "tokens": "c", "sentence": "A film. A bore."},
    {"id": "8", "tokens": "", "sentence": "Fine, really."},
]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_rows_have_a_sentence_and_further_fields(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with path.open("w", newline="") as file:
        if name == "a.jsonl":
            file.writelines(f"{json.dumps(row)}\n" for row in ROWS)
        else:
            csv.DictWriter(file, ROWS[0]).writerows([dict(zip(ROWS[0], ROWS[0])), *ROWS])

    inputs = read_inputs(str(path), Sentences())

    # A column that is not read, but has the name of a field, gets another name.
    other = "tokens" if name == "a.jsonl" else "input_tokens"
    expected = [
        {"sentence": row["sentence"], "id": row["id"], other: row["tokens"]} for row in ROWS
    ]
    assert [each.values for each in inputs.records] == expected
    assert inputs.are_json == (name == "a.jsonl")


def test_a_column_may_be_chosen_and_one_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("input_sentence,,sentence,review\n7,x,b,A film.\n")

    (row,) = read_inputs(str(path), Sentences(), "review").records

    expected = {"sentence": "A film.", "input_sentence": "7", "input_input_sentence": "b"}
    assert row.values == expected


@pytest.mark.parametrize(
    ("name", "text", "predictor", "expected"),
    [
        ("a.conll", CONLL_2003, Sentences(), [(3, ["Eve", "sings"]), (6, ["Yes"])]),
        ("a.txt", CONLL_2003, Sentences(), [(3, ["Eve", "sings"]), (6, ["Yes"])]),
        ("a.conll", "Eve NNP\n\nYes UH\n", WithoutColumns(), [(1, ["Eve"]), (3, ["Yes"])]),
        ("a.conllu", CONLL_U, WithoutColumns(), [(2, ["ca", "n't"])]),
    ],
)
def test_a_file_in_columns_has_the_words_of_sentences(
    name: str, text: str, predictor: TextPredictor, expected: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)

    inputs = read_inputs(str(path), predictor)

    assert not inputs.are_json
    assert [(each.line, each.values["tokens"]) for each in inputs.records] == expected


def test_columns_of_documents_and_on_the_standard_input_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("#begin document (a)\nEve O\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CONLL_2003.encode())))

    with pytest.raises(ConfigurationError, match=f"{path} is in columns: `predict`"):
        list(read_inputs(str(path), Documents()).records)
    with pytest.raises(ConfigurationError, match="standard input is in columns: `predict`"):
        list(read_inputs("-", Sentences()).records)
