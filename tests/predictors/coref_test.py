from typing import Any

import pytest
from allennlp.data import Instance

from elmo_tasks.modules.antecedent_choice import CorefMention
from elmo_tasks.predictors.coref import CorefPredictor
from elmo_tasks.predictors.text_inputs import read_inputs
from tests.helpers.archives import task_predictor
from tests.helpers.configs import ROOT

TEXT = "The baker opened her shop in Lisbon.\n\n She sold bread there until it closed."


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> CorefPredictor:
    return task_predictor(tmp_path_factory.mktemp("coref"), "coref")


def test_clusters_have_sentences_tokens_characters_and_antecedents(
    predictor: CorefPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = [CorefMention(0, 2, None, None), CorefMention(8, 9, 0, 0.5)]
    monkeypatch.setattr(predictor, "outputs", lambda instances: [{"clusters": [cluster]}])

    answer = predictor.predict_json({"document": TEXT, "genre": "nw"})

    assert answer["document"] == TEXT
    assert [len(sentence) for sentence in answer["sentences"]] == [8, 8]
    first: dict[str, Any] = {"sentence": 0, "text": "The baker", "tokens": [0, 2]}
    second: dict[str, Any] = {"sentence": 1, "text": "She", "tokens": [8, 9]}
    assert answer["clusters"] == [
        [
            {**first, "characters": [0, 9], "antecedent": None, "probability": None},
            {**second, "characters": [39, 42], "antecedent": 0, "probability": 0.5},
        ]
    ]
    assert predictor.readable(answer) == [" ".join(TEXT.split()), "\tThe baker\tShe"]


def test_speakers_and_genre_reach_the_model(predictor: CorefPredictor) -> None:
    sentences = [["I", "saw", "him"], ["You", "did", "?"]]

    instance = predictor._json_to_instance(
        {"sentences": sentences, "speakers": ["Ana", "Ben"], "genre": "bc"}
    )

    assert instance["metadata"]["speakers"] == ["Ana"] * 3 + ["Ben"] * 3
    assert instance["genre"].label == "bc"


def test_documents_in_columns_are_read_as_the_reader_reads_them(predictor: CorefPredictor) -> None:
    path = str(ROOT / "fixtures" / "coref.gold_conll")

    inputs = read_inputs(path, predictor)
    instances = [predictor._json_to_instance(each.values) for each in inputs.records]

    assert inputs.kind == "text"
    expected = list(predictor._dataset_reader.read(path))
    assert len(instances) == len(expected) > 1
    for instance, same in zip(instances, expected):
        for name in ("sentences", "speakers"):
            assert instance["metadata"][name] == same["metadata"][name]
        assert instance["genre"].label == same["genre"].label


def test_documents_of_a_call_are_read_a_few_words_at_a_time(
    predictor: CorefPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    forward = predictor._model.forward_on_instances

    def counted(batch: list[Instance]) -> list[dict[str, Any]]:
        sizes.append([len(each["tokens"]) for each in batch])
        return forward(batch)

    monkeypatch.setattr(CorefPredictor, "max_tokens", 16)
    monkeypatch.setattr(predictor._model, "forward_on_instances", counted)
    texts = ["Rain fell all day.", TEXT, "Yes.", TEXT[:36]]

    answers = predictor.predict_batch_json([{"document": text} for text in texts])

    assert [answer["document"] for answer in answers] == texts
    assert sizes == [[16], [8, 5], [2]]
