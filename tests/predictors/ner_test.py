from pathlib import Path
from typing import Any

import pytest
from allennlp.common.util import JsonDict
from allennlp.models import load_archive
from allennlp.models.archival import Archive
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.ner import NerPredictor
from elmo_tasks.readers.tag import TagReader
from tests.helpers.command_line import our_command
from tests.helpers.training import trained_archive


@pytest.fixture(scope="module")
def archive_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trains until the model knows its sentences by heart, and returns the archive."""
    change = """{
        hidden_dims: [32, 16], dropout: 0, min_count: 1,
        trainer+: { num_epochs: 30, optimizer+: { lr: 0.02 } },
    }"""
    return trained_archive(tmp_path_factory.mktemp("ner"), "ner", "both", change)


@pytest.fixture(scope="module")
def archive(archive_path: Path) -> Archive:
    return load_archive(archive_path)


@pytest.fixture(scope="module")
def predictor(archive: Archive) -> NerPredictor:
    return build(archive)


def build(archive: Archive, **arguments: Any) -> NerPredictor:
    return Predictor.from_archive(archive, extra_args=arguments)  # type: ignore


def entities(answer: JsonDict) -> list[tuple[str, str, list[int], list[int]]]:
    fields = ("type", "text", "tokens", "characters")
    return [tuple(entity[field] for field in fields) for entity in answer["entities"]]


def test_entities_of_raw_text_have_their_tokens_and_characters(predictor: NerPredictor) -> None:
    text = "  Zoë Ågren sings\tin Malmö, not Oslo."

    answer = predictor.predict_json({"sentence": text})

    assert answer["sentence"] == text
    assert answer["tokens"] == "Zoë Ågren sings in Malmö , not Oslo .".split()
    assert answer["tags"] == "B-PER L-PER O O U-LOC O O U-LOC O".split()
    assert entities(answer) == [
        ("PER", "Zoë Ågren", [0, 2], [2, 11]),
        ("LOC", "Malmö", [4, 5], [21, 26]),
        ("LOC", "Oslo", [7, 8], [32, 36]),
    ]
    for entity in answer["entities"]:
        start, end = entity["characters"]
        assert text[start:end] == entity["text"]
        assert 0.5 < entity["confidence"] <= 1


def test_tokens_are_taken_as_they_are_and_their_text_has_blanks_between(
    predictor: NerPredictor,
) -> None:
    words = ["LISBON", "7\u00a03/4", "2031-04-07"]

    answer = predictor.predict_json({"tokens": words})

    assert answer["tokens"] == words
    assert answer["sentence"] == "LISBON 7\u00a03/4 2031-04-07"
    for _, text, (start, end), (first, last) in entities(answer):
        assert text == " ".join(words[start:end]) == answer["sentence"][first:last]
    assert entities(answer)[0] == ("LOC", "LISBON", [0, 1], [0, 6])


def test_sentences_of_a_file_are_answered_with_its_tokens(predictor: NerPredictor) -> None:
    instances = list(TagReader.of_entities().read("fixtures/ner.txt"))

    answers = predictor.predict_batch_instance(instances)

    for answer, instance in zip(answers, instances, strict=True):
        assert answer["tags"] == instance["tags"].labels
        assert answer["sentence"] == " ".join(answer["tokens"])
    # These two entities of one type are adjacent.
    assert entities(answers[4]) == [
        ("PER", "Tomas Quill", [2, 4], [10, 21]),
        ("PER", "Ines Rovira", [4, 6], [22, 33]),
    ]
    assert predictor.predict_instance(instances[4])["tags"] == answers[4]["tags"]


def test_paths_on_request_are_the_best_with_their_probabilities(archive: Archive) -> None:
    answer = build(archive, top_k=3).predict_json({"sentence": "Oslo left Lisbon."})
    paths = answer["paths"]

    assert len(paths) == 3
    assert paths[0]["tags"] == answer["tags"]
    assert [entity | {"confidence": 0} for entity in paths[0]["entities"]] == [
        entity | {"confidence": 0} for entity in answer["entities"]
    ]

    probabilities = [path["probability"] for path in paths]

    assert probabilities == sorted(probabilities, reverse=True)
    assert probabilities[2] > 0 and sum(probabilities) <= 1
    # No entity is less probable than a path that has it.
    for entity in answer["entities"]:
        assert entity["confidence"] >= probabilities[0] - 1e-9
    assert "paths" not in build(archive).predict_json({"sentence": "Oslo left Lisbon."})


def test_text_has_the_entities_marked_in_the_sentence(archive: Archive) -> None:
    predictor = build(archive, format="text")
    answer = predictor.predict_json({"sentence": "Zoë Ågren sings in Malmö,\nnot Oslo."})
    line = "[PER Zoë Ågren] sings in [LOC Malmö], not [LOC Oslo].\n"

    assert predictor.dump_line(answer) == line

    answer = predictor.predict_json({"tokens": ["Nobody", "came", "to", "the", "reading", "."]})

    assert predictor.dump_line(answer) == "Nobody came to the reading .\n"


def test_text_has_a_line_for_each_path_on_request(archive: Archive) -> None:
    predictor = build(archive, format="text", top_k=2)
    answer = predictor.predict_json({"tokens": ["Oslo", "and", "Lisbon"]})
    lines = predictor.dump_line(answer).splitlines()

    assert len(lines) == 2
    for line, path in zip(lines, answer["paths"]):
        probability, sentence = line.split(" ", 1)
        assert float(probability) == pytest.approx(path["probability"], abs=1e-4)
        assert sentence.count("[") == len(path["entities"])


def test_command_passes_the_arguments_on(archive_path: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(
        '{"sentence": "Oslo, not Malmö."}\n{"tokens": ["Rain"]}\n', encoding="utf-8"
    )
    output = tmp_path / "out.txt"
    options = ["--predictor-args", '{"format": "text"}', "--silent", "--output-file", output]

    our_command("predict", archive_path, tmp_path / "in.jsonl", *options)

    assert output.read_text(encoding="utf-8") == "[LOC Oslo], not [LOC Malmö].\nRain\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"top_k": -1}, "whole number of at least 0, not -1"),
        ({"top_k": True}, "whole number of at least 0, not True"),
        ({"top_k": "3"}, "whole number of at least 0, not '3'"),
        ({"format": "html"}, "'json' or 'text', not 'html'"),
    ],
)
def test_arguments_that_cannot_be_are_refused(
    archive: Archive, arguments: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        build(archive, **arguments)
