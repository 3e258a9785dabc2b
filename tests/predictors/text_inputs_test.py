"""What `predict` reads of each kind of file; `tests/common/records_test.py` tests the kinds."""

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.predictors.input_records import NoText
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor
from elmo_tasks.readers.tag import TagReader

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


class Tags(TextPredictor):
    """A predictor of spans with the reader of `tag`, and a model that knows persons and places."""

    def __init__(self) -> None:
        self._dataset_reader: Any = TagReader("tag", True, ["word", "tag"])
        labels = {tag: index for index, tag in enumerate(["O", "B-PER", "L-PER", "U-LOC"])}
        vocab = SimpleNamespace(get_token_to_index_vocabulary=lambda _: labels)
        self._model: Any = SimpleNamespace(vocab=vocab)


EVE = "Eve\tB-PER\nsings\tO\n\nOslo\tS-LOC\n"
# The content of a file, and the words of its sentences.
IN_COLUMNS = {
    "tabs": EVE,
    "blanks": EVE.replace("\t", " "),
    "lower case": EVE.replace("\t", " ").replace("B-", "b-").replace("S-", "s-"),
    "comments and an index": "# id 1\n1\tEve\tB-PER\n2\tsings\tO\n\n1\tOslo\tB-LOC\n",
    "a header": f"word\ttag\n{EVE}",
    "no tags": EVE.replace("B-PER", "_").replace("O\n", "_\n").replace("S-LOC", "_"),
    "slashes": "Eve/B-PER sings/O\nOslo/B-LOC\n",
}


@pytest.mark.parametrize("suffix", [".txt", ".tsv", ".iob2", ".csv", ".conll", ""])
@pytest.mark.parametrize("dress", IN_COLUMNS)
def test_a_file_in_the_columns_of_a_tagger_is_known_by_its_content(
    dress: str, suffix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / f"in{suffix}"
    path.write_text(IN_COLUMNS[dress])
    caplog.set_level("INFO", "elmo_tasks")

    inputs = read_inputs(str(path), Tags())

    assert [each.values["tokens"] for each in inputs.records] == [["Eve", "sings"], ["Oslo"]]
    assert suffix == ".conll" or f"{path} is read as columns: a token on each line" in caplog.text


@pytest.mark.parametrize("suffix", [".txt", ".tsv", ".conll"])
@pytest.mark.parametrize(
    "text",
    [
        "Eve\tB-person-actor\nsings\tO\n\nOslo\tS-loc\n",
        "Eve\tNNP\tB-a\nsings\tVBZ\tO\n\nOslo\tNNP\tI-b\n",
        "1\tEve\tactor\n2\tsings\tO\n\n1\tOslo\tO\n" + "\n1\tin\tO\n2\tit\tO\n" * 3,
        "Eve/B-actor sings/O\nOslo/O\n",
    ],
)
def test_the_words_of_a_file_in_other_columns_are_read(
    text: str, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"in{suffix}"
    path.write_text(text)
    predictor = Tags()
    predictor._dataset_reader = TagReader.of_entities(["word", "pos", "chunk", "ner"])

    inputs = read_inputs(str(path), predictor)

    words = [each.values["tokens"] for each in inputs.records]
    assert words[:2] == [["Eve", "sings"], ["Oslo"]]


PLAIN = ["Eve sings\nOslo sleeps\n", "Good morning O Eve\nYes\n", "Yes\nNo\n", "7\tEve sings.\n"]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_for_a_tagger_is_plain_text(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "elmo_tasks")
    for name in ("in.txt", "in.text"):
        (tmp_path / name).write_text(text)

        inputs = read_inputs(str(tmp_path / name), Tags())

        assert [each.values["sentence"] for each in inputs.records] == text.splitlines()
    (said,) = caplog.messages
    assert said == f"{tmp_path / 'in.text'} is read as plain text: a sentence on each line"


def test_a_first_line_with_a_delimiter_begins_a_table(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("sep=|\ntext|label\nA film.|x\n")

    (row,) = read_inputs(str(path), Sentences()).records

    assert row.values == {"sentence": "A film.", "label": "x"}


def test_lines_that_look_like_columns_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "roles.txt"
    path.write_text("Ann - (A0*)\nsold sell (V*)\nboats - (A1*)\n\n" * 4)

    assert len(list(read_inputs(str(path), Sentences()).records)) == 12
    assert f"{path}: each line is a text, though most have 3 values" in caplog.text
    caplog.clear()
    for text in ("Ann sold boats\nIt rained\nShe left\n\n", "Ann Holm\nIda Berg\nTom Hill\n"):
        path.write_text(text * 4)
        assert len(list(read_inputs(str(path), Sentences()).records)) == 12
        assert not caplog.text


def test_columns_of_documents_and_on_the_standard_input_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("#begin document (a)\nEve O\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CONLL_2003.encode())))

    with pytest.raises(ConfigurationError, match=f"{path} is in columns, which are read"):
        list(read_inputs(str(path), Documents()).records)
    with pytest.raises(ConfigurationError, match="standard input is in columns, which are read"):
        list(read_inputs("-", Sentences()).records)


def test_a_column_of_numbers_is_no_text_beside_a_column_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sentence,text\n1,A film .\n2,Dull .\n")

    for read in (
        lambda: list(read_inputs(str(path), Sentences()).records),
        lambda: list(Corpus([path])),
    ):
        with pytest.raises(
            ConfigurationError, match="a.csv:2: the column sentence has the number 1"
        ):
            read()
    assert list(Corpus([path], "text")) == ["A film .", "Dull ."]
    assert len(list(read_inputs(str(path), Sentences(), column="text").records)) == 2


def test_words_alone_in_columns_are_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Eve\nleft\n")

    with pytest.raises(ValueError, match="a.conll:1: .*; or write each sentence on a line of a"):
        list(read_inputs(str(path), Sentences()).records)


def test_a_table_on_the_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = io.BytesIO(b"id,text\n1,A film.\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(table))

    with pytest.raises(ConfigurationError, match=r"standard input is a table \(id,text\), which"):
        list(read_inputs("-", Sentences()).records)


class Pairs(Sentences):
    input_names = ("premise", "hypothesis")
    other_names = ()


TEXTS = ["A film.", "A [bore], \n{really}."]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "predictor", [Sentences(), SimpleNamespace(load_line=json.loads, _dataset_reader=None)]
)
def test_a_json_array_has_inputs_in_any_layout(
    indent: int | None, predictor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"sentence": text} for text in TEXTS]
    text = "\ufeff" + json.dumps(rows, indent=indent)
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    for path in (str(tmp_path / "a.json"), "-"):
        inputs = read_inputs(path, predictor)
        assert [each.values for each in inputs.records] == rows


def test_what_was_rejected_in_training_data_is_answered(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,answer\nA film.,reject\n")

    (row,) = read_inputs(str(tmp_path / "a.csv"), Sentences()).records

    assert row.values == {"sentence": "A film.", "answer": "reject"}


@pytest.mark.parametrize(
    ("text", "predictor", "options", "values"),
    [
        ("id\ttext\n1\t2001\n", Sentences(), {}, {"sentence": "2001", "id": "1"}),
        ("x\tOK\n", Sentences(), {"column": "2", "header": False}, {"1": "x", "sentence": "OK"}),
        ("premise\thypothesis\nA.\tB.\n", Pairs(), {}, {"premise": "A.", "hypothesis": "B."}),
        ("a;review\n1;Fine.\n", Sentences(), {"column": "review"}, {"a": "1", "sentence": "Fine."}),
    ],
)  # fmt: skip
def test_a_table_without_its_suffix_is_known_by_its_first_line(
    text: str, predictor: Any, options: dict, values: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "SICK").write_text(text)

    (row,) = read_inputs(str(tmp_path / "SICK"), predictor, **options).records

    assert row.values == values


def test_tabs_in_plain_text_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "SMS").write_text("ham\tOK.\n")

    (row,) = read_inputs(str(tmp_path / "SMS"), Sentences()).records

    assert row.values == {"sentence": "ham\tOK."}
    assert "SMS: each line is a text, and has tabs; if it is a table, name" in caplog.text


class Reading(Sentences):
    """A predictor of questions about passages that needs no model."""

    input_names = ("passage", "question")
    other_names = ("top_k",)
    other_texts = {"context": "passage"}


MANUAL = "Owls sleep."


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "Who?\n\nWhen, then?\n"),
        ("a.csv", 'question,id\nWho?,1\n"When, then?",2\n'),
        ("a.jsonl", '{"question": "Who?", "id": 1}\n{"question": "When, then?", "id": 2}\n'),
    ],
)
def test_a_file_of_questions_has_no_passage_if_all_have_the_same(
    name: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    predictor = Reading()

    inputs = read_inputs(str(path), predictor, shared={"passage": MANUAL, "top_k": 2})

    found = list(inputs.records)
    assert [each.values["question"] for each in found] == ["Who?", "When, then?"]
    for each in found:
        assert each.values["passage"] == MANUAL and each.values["top_k"] == 2
        assert "passage" not in each.row and each.error is None
    assert predictor.input_names == ("passage", "question")


def test_a_row_without_a_question_or_with_a_passage_of_its_own_is_no_question(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl"
    rows = ['{"question": "Who?"}', '{"question": "Who?", "context": "Ducks swim."}', "{"]
    path.write_text("\n".join(rows))
    table = tmp_path / "a.csv"
    table.write_text("id,question\n1,\n2,Who?\n")

    _, own, broken = read_inputs(str(path), Reading(), shared={"passage": MANUAL}).records
    empty, asked = read_inputs(str(table), Reading(), shared={"passage": MANUAL}).records

    assert "the input has its own passage, but all inputs have one" in str(own.error)
    assert "expected one JSON object" in str(broken.error)
    assert isinstance(empty.error, NoText) and asked.error is None
