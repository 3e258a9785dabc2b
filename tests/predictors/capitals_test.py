"""Text in capitals alone is read in lower case, and answers have it as it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.util import JsonDict

from elmo_tasks.predictors.saliency import saliency
from elmo_tasks.predictors.text_predictor import TextPredictor
from tests.helpers.archives import task_predictor

LOUD = "THE DOG DIDN'T BARK. IT WAS MARTA'S."
INPUTS: dict[str, JsonDict] = {
    "ner": {"sentence": LOUD},
    "srl": {"sentence": LOUD},
    "coref": {"document": LOUD},
    "snli": {"premise": LOUD, "hypothesis": "A DOG WAS QUIET."},
    "squad": {"passage": LOUD, "question": "WHOSE DOG WAS IT?"},
}


@pytest.fixture(params=INPUTS)
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def predictor(task: str, tmp_path: Path) -> TextPredictor:
    predictor: TextPredictor = task_predictor(tmp_path, task)
    predictor._dataset_reader.lower_capitals = True
    return predictor


def lowered(value: Any) -> Any:
    """Returns an input or an answer with all texts in lower case, and numbers of four digits."""
    return json.loads(json.dumps(value).lower(), parse_float=lambda number: f"{float(number):.4f}")


def test_the_answer_is_that_to_lower_case_with_the_text_as_it_is(
    predictor: TextPredictor, task: str
) -> None:
    answer, quiet = predictor.predict_batch_json([INPUTS[task], lowered(INPUTS[task])])

    assert lowered(answer) == lowered(quiet)
    words = json.dumps([answer[name] for name in answer if "tokens" in name or name == "sentences"])
    assert words.upper() == words and (task == "squad" or '"N\'T"' in words)
    if task == "squad":
        assert answer["answer"] == LOUD[answer["start"] : answer["end"]]


def test_tokens_and_text_with_small_letters_are_read_as_they_are(
    predictor: TextPredictor, task: str
) -> None:
    mixed = {name: f"{text} ok" for name, text in INPUTS[task].items()}
    as_they_are = [mixed, {"tokens": LOUD.split()}][: 2 if task in ("ner", "srl") else 1]
    answers = predictor.predict_batch_json(as_they_are)

    predictor._dataset_reader.lower_capitals = False

    assert predictor.predict_batch_json(as_they_are) == answers


@pytest.mark.parametrize("task", ["ner", "snli", "squad"], indirect=True)
def test_saliency_names_the_words_as_they_are(predictor: TextPredictor, task: str) -> None:
    for text in saliency(predictor, INPUTS[task])["texts"]:
        assert all(word == word.upper() for word in text["tokens"])
