import pytest

from elmo_tasks.modules import attention
from elmo_tasks.predictors import squad
from elmo_tasks.predictors.squad import SquadPredictor
from tests.helpers.archives import task_predictor
from tests.helpers.largest_tensor import LargestTensor

PASSAGE = "The  café-bar\u00a0opened in 1998 🍲 on Mill Street."
QUESTION = {"passage": PASSAGE, "question": "When did it open?"}


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> SquadPredictor:
    return task_predictor(tmp_path_factory.mktemp("squad"), "squad")


def test_answers_are_all_slices_of_the_raw_passage_with_their_characters_the_best_first(
    predictor: SquadPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = predictor._json_to_instance(QUESTION)
    predictor._dataset_reader.apply_token_indexers(instance)
    first = predictor._model.forward_on_instance(instance)["best_span"].tolist()
    length = len(instance["passage"])

    answer = predictor.predict_json(QUESTION)
    monkeypatch.setattr(squad, "_NUM_BEST", 1000)
    every = predictor.predict_json(QUESTION)["best"]

    assert answer == {**every[0], "best": every[:5]}
    assert answer["answer"] == instance["metadata"]["passage"].text_of(*first)
    assert len({(span["start"], span["end"]) for span in every}) == len(every)
    assert len(every) == length * (length + 1) // 2 < 1000
    for span in every:
        assert PASSAGE[span["start"] : span["end"]] == span["answer"] != ""
    probabilities = [span["probability"] for span in every]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) <= 1 + 1e-5


def test_a_long_passage_is_read_without_the_scores_of_all_pairs_at_once(
    predictor: SquadPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "_MAX_SCORES", 2**16)
    passage = "The owl sleeps . " * 250

    with LargestTensor() as largest:
        answer = predictor.predict_json({"passage": passage, "question": "Who sleeps?"})

    assert passage[answer["start"] : answer["end"]] == answer["answer"] != ""
    assert largest.size < 1000 * 1000 / 4
