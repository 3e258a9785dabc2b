import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.optimizers import Optimizer

from tests.helpers.configs import FIXTURE_BILM, config, tiny
from tests.helpers.task_models import Task


@pytest.mark.parametrize("name", ["baseline", "both"])
def test_penalty_is_on_the_weight_matrices_above_elmo_and_on_the_mixes(name: str) -> None:
    # A biLM that trains is not penalised either.
    trained = f"{FIXTURE_BILM} {{ requires_grad: true, state: 'reset' }}"
    model = Task("snli").build(f"{{ weight_penalty: 0.5, bilm:: {trained} }}", name).model
    expected = torch.zeros(())
    regularized = set()
    for full_name, parameter in model.named_parameters():
        is_mix = full_name.endswith("_mix.scalar_parameters")
        if is_mix:
            torch.nn.init.normal_(parameter)
        in_bilm_or_words = full_name.startswith("text_embedder.")
        if is_mix or (not in_bilm_or_words and parameter.dim() == 2):
            expected += (0.001 if is_mix else 0.5) * (parameter.detach() ** 2).sum()
            regularized.add(full_name)

    penalty = model.get_regularization_penalty()
    penalty.backward()

    torch.testing.assert_close(penalty, expected)
    assert {n for n, p in model.named_parameters() if p.grad is not None} == regularized
    # Two biLSTMs of two directions with two matrices each, and three linear layers.
    assert len(regularized) == 2 * 2 * 2 + 3 + (2 if name == "both" else 0)
    if name == "both":
        assert any(p.requires_grad for p in model.text_embedder.bilm.parameters())


def test_weights_above_elmo_start_as_in_allennlp_models_and_all_others_as_drawn() -> None:
    params = Params(tiny("snli", "both", "{ hidden_dim:: 32 }"))
    instances = DatasetReader.from_params(params["dataset_reader"]).read("fixtures/snli.jsonl")
    vocab = Vocabulary.from_instances(instances)
    initialized = params["model"].pop("initializer")["regexes"]

    torch.manual_seed(0)
    drawn = Model.from_params(params["model"].duplicate(), vocab=vocab)
    params["model"]["initializer"] = {"regexes": initialized}
    model = Model.from_params(params["model"], vocab=vocab)

    before = dict(drawn.named_parameters())
    for name, weight in model.named_parameters():
        weight = weight.detach()
        if name.startswith("text_embedder."):
            # The vectors of words are drawn again, and the biLM and the mixes are the same.
            if ".words." not in name:
                torch.testing.assert_close(weight, before[name])
        elif "weight_hh" in name:
            torch.testing.assert_close(weight.T @ weight, torch.eye(32), atol=1e-5, rtol=0)
        elif weight.dim() == 2:
            # Xavier's uniform distribution has this bound, and a third of its square as variance.
            bound = (6 / sum(weight.shape)) ** 0.5
            assert weight.abs().max() <= bound
            assert weight.var().item() == pytest.approx(bound**2 / 3, rel=0.3)
        elif "bias_hh" in name:
            # Input, forget, cell and output gate.
            assert weight.view(4, 32).tolist() == [[0] * 32, [1] * 32, [0] * 32, [0] * 32]
        else:
            assert not weight.any(), name


def test_learning_rate_is_halved_on_every_epoch_that_does_not_improve() -> None:
    params = Params(config("snli", "baseline")["trainer"])
    layer = torch.nn.Linear(1, 1)
    optimizer = Optimizer.from_params(
        params["optimizer"], model_parameters=list(layer.named_parameters())
    )
    scheduler = LearningRateScheduler.from_params(
        params["learning_rate_scheduler"], optimizer=optimizer
    )

    rates = []
    for accuracy in (0.5, 0.50001, 0.50001, 0.6, 0.55, 0.6, 0.59, 0.61):
        scheduler.step(accuracy)
        rates.append(optimizer.param_groups[0]["lr"] / 0.0004)

    assert rates == [1, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16]
