import json
from typing import Any

import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.modules import attention
from elmo_tasks.predictors.squad import SquadPredictor
from tests.helpers.archives import ROOT, task_model
from tests.helpers.largest_tensor import LargestTensor

FILE = json.loads((ROOT / "fixtures" / "squad.json").read_text(encoding="utf-8"))
PASSAGE = "The  café-bar\u00a0opened in 1998 🍲 on Mill Street."
QUESTION = {"passage": PASSAGE, "question": "When did it open?"}


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> SquadPredictor:
    archive = task_model(tmp_path_factory.mktemp("squad"), "squad", "baseline")
    return Predictor.from_archive(load_archive(archive))  # type: ignore


def with_settings(predictor: SquadPredictor, **settings: Any) -> SquadPredictor:
    return SquadPredictor(predictor._model, predictor._dataset_reader, **settings)


def test_answer_is_a_slice_of_the_raw_passage_with_its_characters(
    predictor: SquadPredictor,
) -> None:
    answer = predictor.predict_json(QUESTION)

    assert answer.keys() == {"answer", "start", "end", "probability", "best"}
    assert len(answer["best"]) == 5
    assert answer["best"][0] == {name: answer[name] for name in answer if name != "best"}
    for span in answer["best"]:
        assert PASSAGE[span["start"] : span["end"]] == span["answer"] != ""

    probabilities = [span["probability"] for span in answer["best"]]

    assert probabilities == sorted(probabilities, reverse=True)
    assert len({(span["start"], span["end"]) for span in answer["best"]}) == 5


def test_probabilities_of_all_spans_are_those_of_start_times_end(
    predictor: SquadPredictor,
) -> None:
    every = with_settings(predictor, num_best=1000).predict_json(QUESTION)["best"]
    instance = predictor._json_to_instance(QUESTION)
    predictor._dataset_reader.apply_token_indexers(instance)
    length = len(instance["passage"])

    assert len(every) == length * (length + 1) // 2 < 1000

    output = predictor._model.forward_on_instance(instance)
    first = output["best_span"].tolist()

    assert every[0]["answer"] == instance["metadata"]["passage"].text_of(*first)
    assert sum(span["probability"] for span in every) <= 1 + 1e-5


def test_attention_is_given_where_it_is_asked_for(predictor: SquadPredictor) -> None:
    asked = with_settings(predictor, attention=True)
    other = {"passage": PASSAGE + " Nobody knows.", "question": "Who knows what?"}

    for answer in asked.predict_batch_json([QUESTION, other]):
        assert answer["question_tokens"][0] in ("When", "Who")
        assert answer["passage_tokens"][:4] == ["The", "café", "-", "bar"]
        assert len(answer["attention"]) == len(answer["passage_tokens"])
        for weights in answer["attention"]:
            assert len(weights) == len(answer["question_tokens"])
            assert sum(weights) == pytest.approx(1, abs=1e-5)


def test_files_of_questions_and_questions_stand_beside_each_other(
    predictor: SquadPredictor,
) -> None:
    asked = [
        (qa["id"], {"passage": paragraph["context"], "question": qa["question"]})
        for article in FILE["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]

    single, file, again = predictor.predict_batch_json([QUESTION, FILE, QUESTION])
    official = with_settings(predictor, official=True).predict_json({**FILE, "version": "1.1"})

    assert list(file) == [id for id, _ in asked] and len(file) == 13
    assert official == {id: answer["answer"] for id, answer in file.items()}
    for answer, inputs in zip([single, *file.values(), again], [QUESTION, *dict(asked).values()]):
        alone = predictor.predict_json(inputs)
        assert list(answer) == list(alone) and answer["answer"] == alone["answer"]
        assert answer["probability"] == pytest.approx(alone["probability"], rel=1e-4)


@pytest.mark.parametrize("official", [False, True])
def test_an_id_may_be_the_name_of_a_field(predictor: SquadPredictor, official: bool) -> None:
    questions = [{"id": id, "question": QUESTION["question"]} for id in ("best", "answer")]
    file = {"data": [{"paragraphs": [{"context": PASSAGE, "qas": questions}]}]}

    lines = predictor.readable(with_settings(predictor, official=official).predict_json(file))

    line, again = predictor.readable(predictor.predict_json(QUESTION)) * 2
    assert lines == ([line.split("\t")[0]] * 2 if official else [line, again])


def test_indented_file_is_refused_with_what_to_do(predictor: SquadPredictor) -> None:
    first, second = json.dumps(FILE, indent=1).splitlines()[:2]

    for line in (first, second):
        with pytest.raises(ValueError, match="as JSON on one line.* run `python -m json.tool"):
            predictor.load_line(f"{line}\n")
    assert predictor.load_line(json.dumps(FILE)) == FILE


def test_a_long_passage_is_read_without_the_scores_of_all_pairs_at_once(
    predictor: SquadPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "_MAX_SCORES", 2**20)
    passage = "The owl sleeps . " * 1000

    with LargestTensor() as largest:
        answer = predictor.predict_json({"passage": passage, "question": "Who sleeps?"})

    assert passage[answer["start"] : answer["end"]] == answer["answer"] != ""
    assert largest.size < 4000 * 4000 / 4
