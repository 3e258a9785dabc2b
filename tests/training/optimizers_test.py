import json
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.models import load_archive
from allennlp.training import GradientDescentTrainer, TrainerCallback
from allennlp.training.moving_average import MovingAverage
from allennlp.training.optimizers import Optimizer
from torch.nn.functional import embedding

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.training.optimizers import FixedMovingAverage
from tests.helpers.configs import tiny
from tests.helpers.training import train

NAMES = ("dense_sparse_adam", "elmo_dense_sparse_adam")

# Repeated rows, and one that only some steps have.
ROWS = torch.tensor([[1, 1, 4], [4, 0, 1], [2, 4, 4], [1, 2, 2]])


class _Training:
    """Trains a table, a bias that is added from the second step on, and a dense weight."""

    def __init__(self, name: str) -> None:
        generator = torch.Generator().manual_seed(0)
        self.table, self.weight, self.late = (
            torch.nn.Parameter(torch.randn(size, 3, generator=generator)) for size in (6, 5, 1)
        )
        self.optimizer = Optimizer.from_params(
            Params({"type": name, "lr": 0.1, "betas": [0.8, 0.9], "eps": 1e-3}),
            model_parameters=[("t", self.table), ("w", self.weight), ("l", self.late)],
        )

    def steps(self, *indices: int) -> None:
        for index in indices:
            self.optimizer.zero_grad()
            x = embedding(ROWS[index], self.table, sparse=True) @ self.weight.sin().t()
            if index > 0:
                x = x + self.late.sum().cos()
            x.square().sum().backward()
            self.optimizer.step()

    @property
    def weights(self) -> list[torch.Tensor]:
        return [self.table.detach(), self.weight.detach(), self.late.detach()]


def test_weights_are_those_of_allennlps_optimizer() -> None:
    theirs, ours = map(_Training, NAMES)

    for training in (theirs, ours):
        training.steps(0, 1, 2, 3)

    torch.testing.assert_close(ours.weights, theirs.weights)


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1]])
def test_each_goes_on_from_the_state_of_the_other(names: tuple[str, str]) -> None:
    whole, first, second = map(_Training, (names[0], *names))

    whole.steps(0, 1, 2, 3)
    first.steps(0, 1)
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    for after, before in zip(second.weights, first.weights):
        after.copy_(before)
    second.steps(2, 3)

    torch.testing.assert_close(second.weights, whole.weights)


def test_weights_are_those_of_allennlps_adam() -> None:
    start = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    weights = []

    for name in ("adam", "elmo_adam"):
        weight = torch.nn.Parameter(start.clone())
        optimizer = Optimizer.from_params(
            Params({"type": name, "lr": 0.1, "weight_decay": 0.01, "betas": [0.8, 0.9]}),
            model_parameters=[("weight", weight)],
        )
        for step in range(5):
            optimizer.zero_grad()
            (weight.sin() * (step + 1)).sum().backward()
            optimizer.step()
        weights.append(weight)

    torch.testing.assert_close(*weights)


StateDict = dict[str, torch.Tensor]

# With this decay, averages and weights differ after a few batches.
TRAINING = """{
  model+: { dropout: 0, feedforward+: { dropout: 0 }, classifier+: { dropout: 0 } },
  data_loader+: { batch_sampler+: { batch_size: 10 } },
  trainer+: {
    num_epochs: 3,
    moving_average: { type: 'elmo_exponential', decay: 0.8 },
    callbacks: ['note_weights'],
  },
}"""


@TrainerCallback.register("note_weights", exist_ok=True)
class NoteWeights(TrainerCallback):
    """Records a weight at each validation batch and at the end of each epoch."""

    validated: list[float] = []
    ended: list[float] = []

    def on_batch(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        if not kwargs["is_training"]:
            self.validated.append(weight(trainer.model.state_dict()))

    def on_epoch(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        self.ended.append(weight(trainer.model.state_dict()))


def weight(state: StateDict) -> float:
    return state["pool_score.weight"][0, 0].item()


@pytest.fixture(autouse=True)
def nothing_noted() -> None:
    NoteWeights.validated, NoteWeights.ended = [], []


def config(change: str = "{}") -> dict[str, Any]:
    return tiny("sst", "baseline", TRAINING, change)


def test_average_is_that_of_the_formula_from_the_first_update_on() -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0]))
    average = MovingAverage.by_name("elmo_exponential")([("w", parameter)], decay=0.9)
    expected = 1.0

    for index, value in enumerate((2.0, -3.0, 5.0)):
        parameter.data.fill_(value)
        # AllenNLP passes the number of the update, on which its own average's decay depends.
        average.apply(index + 1)
        expected = 0.9 * expected + 0.1 * value
        average.assign_average_value()
        assert parameter.item() == pytest.approx(expected)
        average.restore()
        assert parameter.item() == value


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ({"decay": 1}, "decay must be from 0 to below 1, not 1"),
        ({"decay": -0.1}, "decay must be from 0 to below 1, not -0.1"),
        ({"validate_on": "best"}, "validate_on must be average or raw, not 'best'"),
    ],
)
def test_setting_that_cannot_be_is_refused(setting: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        FixedMovingAverage([], **setting)


@pytest.mark.parametrize("validate_on", ["average", "raw"])
def test_validation_measures_what_was_chosen_and_the_averages_are_kept(
    tmp_path: Path, validate_on: str
) -> None:
    change = f"{{ trainer+: {{ moving_average+: {{ validate_on: '{validate_on}' }} }} }}"
    # The last epoch is the best.
    last = change + " + { trainer+: { validation_metric: '-loss' } }"
    model = train(config(last), tmp_path / "model")

    states = [torch.load(tmp_path / "model" / f"training_state_e{n}_b0.th") for n in (2, 3)]
    averages = [weight(state["moving_average"]["averages"]) for state in states]
    validated, ended = NoteWeights.validated[1:], NoteWeights.ended[1:]
    assert validated == (ended if validate_on == "raw" else averages)
    # Training goes on from the raw weights.
    checkpoint = torch.load(tmp_path / "model" / "model_state_e3_b0.th")
    assert weight(checkpoint) == ended[-1] != averages[-1]
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["best_epoch"] == 2
    assert (
        weight(torch.load(tmp_path / "model" / "best.th"))
        == weight(model.state_dict())
        == averages[-1]
    )
    archived = load_archive(tmp_path / "model" / "model.tar.gz").model
    assert weight(archived.state_dict()) == averages[-1]
