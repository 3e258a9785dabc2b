import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.srl import SrlPredictor
from elmo_tasks.readers.srl import SrlReader
from tests.helpers.command_line import our_command
from tests.helpers.training import trained_archive

DATA = "fixtures/srl.gold_conll"


@pytest.fixture(scope="module")
def archive_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trains until the model knows its sentences by heart, and returns the archive."""
    change = """{
        hidden_dim: 32, recurrent_dropout: 0, elmo_dropout: 0, min_count: 1,
        trainer+: { num_epochs: 20, optimizer: { type: 'elmo_adam', lr: 0.02 } },
    }"""
    return trained_archive(tmp_path_factory.mktemp("srl"), "srl", "both", change)


@pytest.fixture(scope="module")
def predictor(archive_path: Path) -> SrlPredictor:
    return Predictor.from_archive(load_archive(archive_path))  # type: ignore


def roles(answer: JsonDict) -> list[list[tuple[str, str, list[int]]]]:
    return [
        [(role["role"], role["text"], role["tokens"]) for role in predicate["roles"]]
        for predicate in answer["predicates"]
    ]


def test_predicates_of_raw_text_are_found_and_their_roles_have_tokens_and_characters(
    predictor: SrlPredictor,
) -> None:
    text = "The storm broke\ttwo windows and frightened the dog."

    answer = predictor.predict_json({"sentence": text})

    assert answer["sentence"] == text
    assert answer["tokens"] == "The storm broke two windows and frightened the dog .".split()
    assert [(each["text"], each["index"]) for each in answer["predicates"]] == [
        ("broke", 2),
        ("frightened", 6),
    ]
    assert roles(answer) == [
        [("ARG0", "The storm", [0, 2]), ("V", "broke", [2, 3]), ("ARG1", "two windows", [3, 5])],
        [("ARG0", "The storm", [0, 2]), ("V", "frightened", [6, 7]), ("ARG1", "the dog", [7, 9])],
    ]
    for predicate in answer["predicates"]:
        assert len(predicate["tags"]) == len(answer["tokens"])
        for role in predicate["roles"]:
            start, end = role["characters"]
            assert text[start:end] == role["text"]
            assert 0.3 < role["confidence"] <= 1


def test_predicates_are_those_that_the_user_names(predictor: SrlPredictor) -> None:
    words = ["The", "storm", "broke", "two", "windows"]

    answer = predictor.predict_json({"tokens": words, "predicates": [4, 2]})

    assert [(each["text"], each["index"]) for each in answer["predicates"]] == [
        ("windows", 4),
        ("broke", 2),
    ]
    assert answer["sentence"] == "The storm broke two windows"


@pytest.mark.parametrize(
    "inputs", [{"sentence": "Good morning."}, {"tokens": ["left"], "predicates": []}]
)
def test_sentence_without_a_predicate_has_none(predictor: SrlPredictor, inputs: JsonDict) -> None:
    assert predictor.predict_json(inputs)["predicates"] == []


def test_more_predicates_than_the_model_reads_at_a_time_are_answered(
    predictor: SrlPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    forward = predictor._model.forward_on_instances

    def counted(batch: list[Instance]) -> list[dict[str, Any]]:
        sizes.append(len(batch) * max(len(instance["tokens"]) for instance in batch))
        return forward(batch)

    monkeypatch.setattr(predictor._model, "forward_on_instances", counted)

    short, long = predictor.predict_batch_json([{"tokens": ["left"]}, {"tokens": ["left"] * 70}])

    assert [each["index"] for each in short["predicates"]] == [0]
    assert [each["index"] for each in long["predicates"]] == list(range(70))
    assert sum(sizes) >= 70 * 70 and max(sizes) <= 4096


@pytest.mark.parametrize(
    "inputs", [{"tokens": ["left"] * 4}, {"sentence": "a b", "predicates": [0, 1]}]
)
def test_tokens_times_predicates_of_a_call_may_be_limited(
    predictor: SrlPredictor, inputs: JsonDict
) -> None:
    num_tags = len(inputs.get("tokens", "ab")) ** 2

    def limited(max_tags: int) -> SrlPredictor:
        return SrlPredictor(predictor._model, predictor._dataset_reader, max_tags=max_tags)

    assert limited(num_tags).predict_json(inputs) == predictor.predict_json(inputs)
    refused = f"tokens times predicates are {num_tags}; {num_tags - 1} are allowed: give shorter"
    with pytest.raises(ValueError, match=refused):
        limited(num_tags - 1).predict_json(inputs)
    with pytest.raises(ValueError, match=f"are {2 * num_tags}; {num_tags} are allowed"):
        limited(num_tags).predict_batch_json([inputs, inputs])
    with pytest.raises(ConfigurationError, match="max_tags must be 1 or more, not 0"):
        limited(0)


def test_instances_of_a_file_have_an_answer_for_each_predicate(predictor: SrlPredictor) -> None:
    instances = list(SrlReader().read(DATA))

    answers = predictor.predict_batch_instance(instances)

    right = 0
    for answer, instance in zip(answers, instances, strict=True):
        (predicate,) = answer["predicates"]
        assert answer["sentence"] == " ".join(instance["metadata"].metadata["tokens"])
        assert predicate["index"] == instance["predicate"].sequence_index
        right += predicate["tags"] == instance["tags"].labels
    assert right > 12
    assert predictor.predict_instance(instances[0])["tokens"] == answers[0]["tokens"]


def test_command_predicts_and_evaluates_with_a_line_for_each_predicate(
    archive_path: Path, tmp_path: Path
) -> None:
    asked, output, predictions = (tmp_path / f"{name}.jsonl" for name in ("in", "out", "all"))
    asked.write_text('{"sentence": "Marta left Lisbon."}\n')

    our_command("predict", archive_path, asked, "--silent", "--output-file", output)
    our_command("evaluate", archive_path, DATA, "--predictions-output-file", predictions)

    (answer,) = map(json.loads, output.read_text().splitlines())
    assert [each["text"] for each in answer["predicates"]] == ["left"]
    lines = predictions.read_text().splitlines()
    first = [json.loads(line)["predicates"][0]["text"] for line in lines[:3]]
    assert first == ["left", "broke", "frightened"]
    assert len(lines) == 17


def test_in_text_an_answer_is_the_sentence_and_a_line_for_each_predicate(
    predictor: SrlPredictor,
) -> None:
    answer = predictor.predict_json({"sentence": "The storm broke two windows."})

    lines = predictor.readable(answer)

    (found,) = answer["predicates"]
    marked = [f"[{role['role']} {role['text']}]" for role in found["roles"]]
    assert marked
    assert lines == ["The storm broke two windows.", "\t".join(["", "broke", *marked])]
    assert predictor.readable({**answer, "predicates": []}) == lines[:1]
