import json
from pathlib import Path

import pytest
from allennlp.common.util import JsonDict
from allennlp.models import load_archive
from allennlp.predictors import Predictor

import elmo_tasks
from elmo_tasks.predictors import coref
from elmo_tasks.predictors.coref import CorefPredictor
from elmo_tasks.publish.publish import publish
from elmo_tasks.readers.coref import CorefReader
from tests.helpers.command_line import our_command
from tests.helpers.training import trained_archive

DATA = "fixtures/coref.gold_conll"
TEXT = "The baker opened her shop in Lisbon.\n\n She sold bread there until it closed."


@pytest.fixture(scope="module")
def archive_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trains until the model knows its documents by heart, and returns the archive."""
    change = """{
        hidden_dim: 16, feedforward_dim: 32, elmo_dropout: 0, lexical_dropout: 0, dropout: 0,
        min_count: 1, max_span_width: 6, spans_per_word: 2,
        trainer+: { num_epochs: 20, optimizer: { type: 'elmo_adam', lr: 0.01 } },
    }"""
    return trained_archive(tmp_path_factory.mktemp("coref"), "coref", "both", change)


@pytest.fixture(scope="module")
def predictor(archive_path: Path) -> CorefPredictor:
    return Predictor.from_archive(load_archive(archive_path))  # type: ignore


def texts(answer: JsonDict) -> list[list[str]]:
    return [[mention["text"] for mention in cluster] for cluster in answer["clusters"]]


def test_clusters_of_raw_text_have_sentences_tokens_and_characters(
    predictor: CorefPredictor,
) -> None:
    text = f"{TEXT} Nobody replaced her."

    answer = predictor.predict_json({"document": text, "genre": "nw"})

    assert answer["document"] == text
    assert [len(sentence) for sentence in answer["sentences"]] == [8, 8, 4]
    assert texts(answer) == [
        ["The baker", "her", "She", "her"],
        ["her shop", "it"],
        ["Lisbon", "there"],
    ]
    tokens = [token for sentence in answer["sentences"] for token in sentence]
    for cluster in answer["clusters"]:
        first, *others = cluster
        assert first["antecedent"] is first["probability"] is None
        for index, mention in enumerate(others, start=1):
            assert 0 <= mention["antecedent"] < index
            assert 0.1 < mention["probability"] <= 1
        for mention in cluster:
            start, end = mention["characters"]
            assert text[start:end] == mention["text"]
            assert mention["text"].split() == tokens[slice(*mention["tokens"])]
            assert mention["text"].split()[0] in answer["sentences"][mention["sentence"]]


def test_sentences_have_speakers(predictor: CorefPredictor) -> None:
    sentences = [["I", "saw", "your", "dog", "in", "the", "park", "."], ["You", "saw", "him", "?"]]

    answer = predictor.predict_json(
        {"sentences": sentences, "speakers": ["Ana", "Ben"], "genre": "bc"}
    )
    same = predictor.predict_json({"sentences": sentences, "genre": "bc"})

    assert answer["document"] == "I saw your dog in the park . You saw him ?"
    assert answer["sentences"] == sentences
    assert ["I", "You"] in texts(answer)
    assert answer != same


@pytest.mark.parametrize(
    "inputs", [{"document": "Yes."}, {"sentences": [["Yes"]], "genre": "letters"}]
)
def test_document_without_clusters_has_none(predictor: CorefPredictor, inputs: JsonDict) -> None:
    assert predictor.predict_json(inputs)["clusters"] == []


def test_answers_of_a_batch_are_those_of_single_documents_in_their_order(
    predictor: CorefPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = [{"document": text} for text in ("Rain fell all day.", TEXT, "Yes.", TEXT[:36])]
    alone = [predictor.predict_json(each) for each in inputs]

    monkeypatch.setattr(coref, "_MAX_WORDS", 16)
    answers = predictor.predict_batch_json(inputs)

    assert [texts(answer) for answer in answers] == [texts(answer) for answer in alone]
    assert [answer["document"] for answer in answers] == [each["document"] for each in inputs]


def test_instances_of_a_file_have_the_right_clusters(predictor: CorefPredictor) -> None:
    instances = list(CorefReader().read(DATA))

    answers = predictor.predict_batch_instance(instances)

    right = 0
    for answer, instance in zip(answers, instances, strict=True):
        found = [[mention["tokens"] for mention in cluster] for cluster in answer["clusters"]]
        expected = instance["metadata"]["clusters"]
        assert answer["sentences"] == instance["metadata"]["sentences"]
        right += sorted(found) == sorted(sorted(map(list, cluster)) for cluster in expected)
    assert right >= 3
    assert texts(predictor.predict_instance(instances[0])) == texts(answers[0])


def test_commands_and_python_answer_with_the_archive_and_the_packed_model(
    archive_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text(f"{TEXT.replace(chr(10), ' ')}\n")
    output, predictions = tmp_path / "out.txt", tmp_path / "predictions.jsonl"
    publish(archive_path, tmp_path / "packed")

    our_command("predict", archive_path, tmp_path / "in.txt", "--output-file", output)
    our_command("evaluate", archive_path, DATA, "--predictions-output-file", predictions)
    answer = elmo_tasks.load(archive_path).predict(TEXT)
    packed = elmo_tasks.load(tmp_path / "packed").predict(TEXT)

    lines = output.read_text().splitlines()
    assert lines[0].startswith("The baker opened her shop in Lisbon.")
    assert all(line.startswith("\t") for line in lines[1:])
    answers = list(map(json.loads, predictions.read_text().splitlines()))
    assert [len(each["sentences"]) for each in answers] == [3, 4, 2, 1, 5]
    assert answer.clusters[0][0].text == texts(answer)[0][0]
    assert texts(packed) == texts(answer)
