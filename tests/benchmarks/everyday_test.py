import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import everyday
from elmo_tasks.common.text_files import read_lines

# What a model answered, what was expected, and whether the two are the same.
CASES = [
    ("sst", "negative", ["negative", "very negative"], True),
    ("sst", "neutral", ["negative", "very negative"], False),
    ("squad", "the Red door.", ["red door"], True),
    ("squad", "door", ["the red door"], False),
    ("ner", [["Ann", "PER"], ["Rome", "LOC"]], [["Rome", "LOC"], ["Ann", "PER"]], True),
    ("ner", [["Ann", "PER"], ["Rome", "ORG"]], [["Ann", "PER"], ["Rome", "LOC"]], False),
    ("ner", [["Ann", "PER"]], [], False),
    ("coref", [["it", "The car"]], [["a car", "It"]], True),
    ("coref", [["it", "The car", "his"]], [["a car", "It"]], False),
    ("srl", [{"V": "saw", "ARG0": "Ann", "ARGM-TMP": "now"}], [{"V": "saw", "ARG0": "Ann"}], True),
    ("srl", [{"V": "saw", "ARG1": "Ann"}], [{"V": "saw", "ARG0": "Ann"}], False),
    ("srl", [{"V": "saw"}, {"V": "is"}], [{"V": "saw"}], False),
]


@pytest.mark.parametrize(("task", "part", "expected", "same"), CASES)
def test_an_answer_is_as_expected_in_each_part(
    task: str, part: Any, expected: Any, same: bool
) -> None:
    assert everyday.is_expected(task, part, expected) == same


@pytest.mark.parametrize(("path", "number"), [*zip(everyday.LISTS, (40, 30), strict=True)])
def test_each_task_has_as_many_inputs_and_the_expected_words_are_in_them(
    path: Path, number: int
) -> None:
    items = [json.loads(line) for line in read_lines(path)]

    tasks = [item["task"] for item in items]
    assert {task: tasks.count(task) for task in tasks} == dict.fromkeys(everyday.PARTS, number)
    for item in items:
        texts = " ".join(item["input"].values())
        if item["task"] == "coref":
            assert all(words in texts for cluster in item["expected"] for words in cluster)
        if item["task"] == "srl":
            assert all(words in texts for roles in item["expected"] for words in roles.values())
