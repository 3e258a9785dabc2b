"""Tests that an answer has the fields of its input that the model does not read."""

import json
from pathlib import Path
from typing import Any

import pytest

import elmo_tasks
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor
from tests.helpers.archives import task_model
from tests.helpers.command_line import our_command


@pytest.fixture(scope="module")
def sst(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return task_model(tmp_path_factory.mktemp("sst"), "sst", "baseline")


def test_the_answer_to_a_whole_file_of_questions_has_their_ids_alone(tmp_path: Path) -> None:
    question = {"id": "q", "question": "Who slept?", "answers": []}
    file = {"data": [{"paragraphs": [{"context": "She slept.", "qas": [question]}]}]}

    answer = elmo_tasks.load(task_model(tmp_path, "squad", "baseline")).predict(
        {"version": "1.1", **file}
    )

    assert list(answer) == ["q"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("in.jsonl", '{"id": "7", "label": "x", "sentence": "A film. A bore."}\n'),
        ("in.csv", "id,,label,sentence\n7,,x,A film. A bore.\n"),
        ("in.tsv", "id\tlabel\ttext\n7\tx\tA film. A bore.\n"),
    ],
)
def test_json_and_tables_have_their_further_fields_in_the_answer(
    name: str, text: str, sst: Path, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    output = tmp_path / "out"

    def answers(*args: object) -> list[str]:
        command = ("predict", sst, tmp_path / name, "--output-file", output, "--silent", *args)
        our_command(*command)
        return output.read_text().splitlines()

    (answer,) = map(json.loads, answers("--predictor-args", '{"format": "json"}'))
    (line,) = answers("--predictor-args", '{"format": "text"}')

    assert (answer["id"], answer["input_label"]) == ("7", "x")
    assert answer["label"] != "x" and answer["tokens"] == ["A", "film", ".", "A", "bore", "."]
    assert line.split("\t")[0] == answer["label"]
    assert line.split("\t")[2:] == ["A film . A bore .", "id: 7", "label: x"]


def test_each_sentence_of_a_row_has_its_further_fields(sst: Path, tmp_path: Path) -> None:
    predictor: Any = elmo_tasks.load(sst, split=True, column="review").predictor
    assert isinstance(predictor, TextPredictor)
    path = tmp_path / "in.csv"
    path.write_text("id,sentence,tokens,review\n7,b,c,A film. A bore.\n")

    found = [each.json for each in read_inputs(str(path), predictor).located]

    further = {"id": "7", "input_sentence": "b", "input_tokens": "c"}
    assert found == [{"sentence": "A film.", **further}, {"sentence": "A bore.", **further}]
