"""The interpreters and attackers of AllenNLP on small models of every task with a label."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Batch, Instance
from allennlp.interpret.attackers import Hotflip, InputReduction
from allennlp.interpret.saliency_interpreters import (
    IntegratedGradient,
    SaliencyInterpreter,
    SimpleGradient,
    SmoothGradient,
)

from elmo_tasks.modules.text_embedder import EmbeddedText
from elmo_tasks.predictors.saliency import saliency
from elmo_tasks.predictors.text_predictor import TextPredictor
from tests.helpers.archives import task_predictor
from tests.helpers.configs import tiny
from tests.helpers.precision import in_dtype
from tests.helpers.promises import PredictorPromise, promises

PROMISES: dict[str, PredictorPromise] = {name: task.PREDICTOR for name, task in promises().items()}
INPUTS = {
    name: promise.explained for name, promise in PROMISES.items() if promise.explained is not None
}


@pytest.fixture(scope="module", params=INPUTS)
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def predictor(task: str, tmp_path_factory: pytest.TempPathFactory) -> TextPredictor:
    return task_predictor(tmp_path_factory.mktemp(task), task, "both")


def loss_of(predictor: TextPredictor, instance: Instance) -> torch.Tensor:
    batch = Batch([instance])
    batch.index_instances(predictor._model.vocab)
    return predictor._model(**batch.as_tensor_dict())["loss"]


def by_scales(predictor: TextPredictor, instance: Instance) -> dict[str, list[float]]:
    """
    Returns, for each text, how much each token's vectors matter for the loss: the slope of the loss
    if the vectors grow, as a share of all tokens.
    """
    scales: list[tuple[torch.Tensor, torch.Tensor]] = []

    def grow(_: Any, __: Any, texts: list[EmbeddedText]) -> list[EmbeddedText]:
        made = [torch.ones(*text.mask.shape, 1).to(text.x).requires_grad_() for text in texts]
        scales.extend((scale, text.mask) for scale, text in zip(made, texts))
        return [
            text._replace(x=text.x * scale, elmo=text.elmo * scale)
            for text, scale in zip(texts, made)
        ]

    with predictor._model.text_embedder.register_forward_hook(grow):
        loss_of(predictor, instance).backward()
    shares = {}
    texts = [name for name in instance.fields if hasattr(instance[name], "tokens")]
    for name, (scale, mask) in zip(texts, scales, strict=True):
        slopes = scale.grad[mask].abs().flatten()  # type: ignore[index]
        shares[name] = (slopes / slopes.sum()).tolist()
    return shares


def test_saliency_is_the_slope_of_the_loss(task: str, predictor: TextPredictor) -> None:
    with in_dtype(predictor._model, torch.float64):
        found = saliency(predictor, INPUTS[task])["texts"]
        instances = predictor.json_to_labeled_instances(INPUTS[task])
        expected = [by_scales(predictor, instance) for instance in instances]

    assert len(found[0]["weights"]) == len(expected) > 0
    for text in found:
        for weights, slopes in zip(text["weights"], expected, strict=True):
            assert weights == pytest.approx(slopes[text["field"]], abs=1e-6)


def test_saliency_names_words_as_the_user_wrote_them(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    predictor = task_predictor(tmp_path_factory.mktemp("loud"), "sst")

    (text,) = saliency(predictor, {"sentence": "sooo GREAT"})["texts"]

    assert text["tokens"] == ["sooo", "GREAT"]


def test_interpreters_give_each_token_a_share(task: str, predictor: TextPredictor) -> None:
    instance = predictor._json_to_instance(INPUTS[task])
    lengths = [len(f) for f in reversed(instance.fields.values()) if hasattr(f, "tokens")]
    # The others change the embedded text in many steps, by hooks on what all tasks share.
    kinds = [SimpleGradient, *[IntegratedGradient, SmoothGradient] * (task == "snli")]

    for kind in kinds:
        interpreter: SaliencyInterpreter = kind(predictor)
        # Two noisy samples of `SmoothGradient` show as much as ten.
        interpreter.num_samples = 2  # type: ignore[attr-defined]
        found = interpreter.saliency_interpret_from_json(INPUTS[task])

        for each in found.values():
            assert [len(each[f"grad_input_{k}"]) for k in range(1, len(each) + 1)] == lengths
            for weights in each.values():
                assert sum(weights) == pytest.approx(1) and min(weights) >= 0


def test_input_reduction_keeps_the_answer(task: str, predictor: TextPredictor) -> None:
    field, gradient = PROMISES[task].attacked

    found = InputReduction(predictor, beam_size=2).attack_from_json(INPUTS[task], field, gradient)

    original = list(map(str, found["original"]))
    for reduced in found["final"]:
        rest = iter(original)
        assert reduced and all(str(token) in rest for token in reduced)
    if task == "sst":
        labels = [
            predictor.predict_json({"tokens": list(map(str, words))})["label"]
            for words in (found["original"], *found["final"])
        ]
        assert len(set(labels)) == 1


def test_hotflip_needs_a_model_without_elmo(
    task: str, predictor: TextPredictor, tmp_path: Path
) -> None:
    field, gradient = PROMISES[task].attacked
    plain = task_predictor(tmp_path, task)

    found = Hotflip(plain).attack_from_json(INPUTS[task], field, gradient)

    for changed in found["final"]:
        assert len(changed) == len(found["original"])
        assert list(map(str, changed)) != list(map(str, found["original"]))
    with pytest.raises(RuntimeError, match="Unsupported token indexer"):
        Hotflip(predictor).attack_from_json(INPUTS[task], field, gradient)


@pytest.mark.parametrize("several", [name for name in PROMISES if name not in INPUTS])
def test_a_task_without_one_answer_refuses_as_allennlp_does(several: str, tmp_path: Path) -> None:
    predictor = task_predictor(tmp_path, several)
    instance = predictor._dataset_reader.read(tiny(several, "both")["train_data_path"])

    with pytest.raises(RuntimeError, match="implement this method for model interpretations"):
        predictor.predictions_to_labeled_instances(next(iter(instance)), {})
