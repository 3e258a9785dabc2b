import pytest
import torch
from allennlp.common import Params
from allennlp.training.optimizers import Optimizer
from torch.nn.functional import embedding

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
