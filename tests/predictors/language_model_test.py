import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.bilm.state import CarryState
from elmo_tasks.language_model.model import softmax_of
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.predictors.language_model import LanguageModelPredictor
from tests.helpers.archives import SENTENCES, language_model

# The last word is not in the vocabulary.
SENTENCE = "the old dog saw a zebra"


@pytest.fixture(scope="module", params=["reset", "carry"])
def predictor(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> LanguageModelPredictor:
    archive = language_model(tmp_path_factory.mktemp("archive"), request.param)
    return Predictor.from_archive(load_archive(archive))  # type: ignore


def test_an_answer_has_the_scores_of_the_language_model(predictor: LanguageModelPredictor) -> None:
    scorer = LanguageModel(predictor._model.bilm, softmax_of(predictor._model))
    texts = [SENTENCE, *SENTENCES, ("the old dog saw a cat in the house . " * 20).strip()]

    answers = predictor.predict_batch_json([{"sentence": f" {text}\t\n"} for text in texts])

    assert answers[0]["unknown"] == [False] * 5 + [True]
    for answer, text in zip(answers, texts, strict=True):
        [score] = scorer.score([text])
        perplexity = scorer.perplexity([text])
        assert answer["tokens"] == score.tokens == text.split()
        assert answer["unknown"] == [not known for known in score.known]
        for direction in ("forward", "backward"):
            expected = getattr(score, direction).tolist()
            assert answer[f"{direction}_log_probs"] == pytest.approx(expected, abs=1e-4)
            expected = getattr(perplexity, direction)
            assert answer[f"{direction}_perplexity"] == pytest.approx(expected, rel=1e-4)
        assert answer["end_log_prob"] == pytest.approx(score.end, abs=1e-4)
        assert answer["begin_log_prob"] == pytest.approx(score.begin, abs=1e-4)


def test_perplexities_are_the_metrics_of_the_sentence(predictor: LanguageModelPredictor) -> None:
    model = predictor._model
    if isinstance(model.bilm.state, CarryState):
        pytest.skip("a training goes on from the state of the sentence before")
    instance = predictor._dataset_reader.text_to_instance(SENTENCE.split())
    predictor._dataset_reader.apply_token_indexers(instance)
    model.get_metrics(reset=True)

    answer = predictor.predict_json({"sentence": SENTENCE})

    counted = model.get_metrics()
    assert counted.pop("unknown_tokens") == 0 and set(counted.values()) == {1}
    model.forward_on_instance(instance)
    metrics = model.get_metrics(reset=True)
    for name in ("forward_perplexity", "backward_perplexity"):
        assert answer[name] == pytest.approx(metrics[name], rel=1e-5)
