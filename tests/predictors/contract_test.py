"""The contract of every predictor, from input to answer: batches, fields, texts and refusals."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.util import JsonDict
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.predictors.fields import with_fields
from elmo_tasks.predictors.text_predictor import TextPredictor
from tests.helpers.archives import language_model, task_predictor
from tests.helpers.configs import tiny
from tests.helpers.promises import NO_SENTENCE, PredictorPromise, promises
from tests.helpers.reading import words

PROMISES: dict[str, PredictorPromise] = {
    **{name: task.PREDICTOR for name, task in promises().items()},
    "language model": PredictorPromise(
        inputs=[{"sentence": "the dog"}, {"tokens": ["the", "old", "dog", "saw", "a", "zebra"]}],
        of_text=lambda text: {"sentence": text},
        fields=[
            *("tokens", "unknown", "forward_log_probs", "end_log_prob", "forward_perplexity"),
            *("backward_log_probs", "begin_log_prob", "backward_perplexity"),
        ],
        refused=NO_SENTENCE,
        of_instance=lambda instance: {"tokens": words(instance)[1:-1]},
    ),
}


@pytest.fixture(scope="module", params=PROMISES)
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def made() -> dict[str, TextPredictor]:
    """Has the predictors that were made, since pytest forgets one at each other parameter."""
    return {}


@pytest.fixture
def predictor(
    task: str, made: dict[str, TextPredictor], tmp_path_factory: pytest.TempPathFactory
) -> TextPredictor:
    if task not in made:
        folder: Path = tmp_path_factory.mktemp("archive")
        if " " in task:
            archive = load_archive(language_model(folder))
            made[task] = Predictor.from_archive(archive)  # type: ignore[assignment]
        else:
            made[task] = task_predictor(folder, task, "both")
    return made[task]


def leaves(value: Any) -> Iterator[Any]:
    for child in value.values() if isinstance(value, dict) else value:
        if isinstance(child, dict | list):
            yield from leaves(child)
        else:
            yield pytest.approx(child, abs=1e-5) if isinstance(child, float) else child


def test_an_input_has_the_same_answer_alone_and_in_a_batch(
    task: str, predictor: TextPredictor
) -> None:
    promise = PROMISES[task]

    answers = predictor.predict_batch_json(promise.inputs)

    for answer, asked in zip(answers, promise.inputs, strict=True):
        assert list(answer)[: len(promise.fields)] == promise.fields
        assert list(leaves(answer)) == list(leaves(predictor.predict_json(asked)))


def test_an_instance_of_a_file_has_the_answer_of_its_words(
    task: str, predictor: TextPredictor
) -> None:
    path = "fixtures/corpus/heldout.txt" if " " in task else tiny(task, "both")["train_data_path"]
    instances = list(predictor._dataset_reader.read(path))[:5]

    answers = predictor.predict_batch_instance(instances)

    expected = predictor.predict_batch_json(list(map(PROMISES[task].of_instance, instances)))
    ids = [answer.pop("id", None) for answer in answers]
    assert ids == [
        instance["metadata"]["id"] if task == "squad" else None for instance in instances
    ]
    for answer, same in zip(answers, expected, strict=True):
        assert list(answer) == list(same)
        assert list(leaves(answer)) == list(leaves(same))
    assert "loss" not in predictor.predict_instance(instances[0])


def spans(value: Any) -> Iterator[JsonDict]:
    """Yields all spans with their place, at any depth."""
    if isinstance(value, dict) and "characters" in value:
        yield value
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from spans(child)


def test_tokens_are_taken_as_they_are_and_spans_stand_in_the_text(
    task: str, predictor: TextPredictor
) -> None:
    for asked in PROMISES[task].inputs:
        answer = predictor.predict_json(asked)
        text = answer.get("sentence", answer.get("document"))
        sentences = answer.get("sentences", [answer.get("tokens", [])])
        tokens = [token for sentence in sentences for token in sentence]

        if "tokens" in asked or "sentences" in asked:
            assert sentences == asked.get("sentences", [asked.get("tokens")])
            assert text in (None, " ".join(tokens))
        elif text is not None:
            assert text == asked.get("sentence", asked.get("document", asked.get("text")))
        found = list(spans(answer))
        assert found or task != "ner"
        for span in found:
            own = tokens[slice(*span["tokens"])]
            assert span["text"] == text[slice(*span["characters"])]
            assert "".join(span["text"].split()) == "".join("".join(own).split())


def test_an_answer_is_a_line_of_json_and_lines_of_text(task: str, predictor: TextPredictor) -> None:
    promise = PROMISES[task]

    for answer in predictor.predict_batch_json(promise.inputs):
        assert json.loads(predictor.dump_line(answer)) == answer
        lines = predictor.readable(answer)
        assert len(lines) == promise.num_lines(answer)
        assert not any("\n" in line for line in lines)


def test_further_fields_are_before_all_but_the_label_of_an_answer(
    task: str, predictor: TextPredictor
) -> None:
    asked = PROMISES[task].inputs[0]
    before = json.dumps(asked)

    answer, plain = predictor.predict_batch_json([{**asked, "id": 1, "from": ["a", None]}, asked])

    first = [name for name in plain if name == "label"]
    assert list(answer) == [*first, "id", "from", *(name for name in plain if name not in first)]
    assert (answer["id"], answer["from"]) == (1, ["a", None])
    assert json.dumps(asked) == before


def test_a_control_word_in_a_text_has_a_finite_answer(task: str, predictor: TextPredictor) -> None:
    for text in ("@@PADDING@@", "@@UNKNOWN@@", "An @@PADDING@@ @@PADDING@@ @@UNKNOWN@@"):
        answer = predictor.predict_json(PROMISES[task].of_text(text))

        numbers = [each.expected for each in leaves(answer) if hasattr(each, "expected")]
        assert numbers or not PROMISES[task].with_numbers
        assert all(map(math.isfinite, numbers))


@pytest.mark.parametrize(
    ("task", "asked", "message"),
    [(name, *each) for name, promise in PROMISES.items() for each in promise.refused],
    indirect=["task"],
)
def test_what_is_no_input_is_refused(
    task: str, predictor: TextPredictor, asked: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        predictor.predict_batch_json([PROMISES[task].inputs[0], asked])

    assert len(str(error.value)) < 600


def test_the_examples_of_a_task_are_inputs(task: str, predictor: TextPredictor) -> None:
    if predictor.task is not None:
        assert predictor.task.name == task
        for example in predictor.task.examples:
            assert tuple(example) == predictor.input_names


def test_a_field_that_the_answer_has_too_is_renamed() -> None:
    answer = with_fields({"label": "c"}, {"label": "a", "id": 1, "input_label": "b"})

    # An answer may be an input again, and no field of it is lost.
    expected = {"label": "c", "input_label": "a", "id": 1, "input_input_label": "b"}
    assert answer == expected and list(answer) == list(expected)
