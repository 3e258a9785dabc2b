import pytest
import torch
from torch import nn

from elmo_tasks.serve.giving_up import GivenUpError, can_give_up, give_up_when


class Counts(nn.Module):
    calls = 0

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return values


def test_a_model_gives_up_between_two_of_its_modules() -> None:
    first, second = Counts(), Counts()
    model = nn.Sequential(first, second)
    can_give_up(model)

    with give_up_when(lambda: first.calls == 1), pytest.raises(GivenUpError):
        model(torch.ones(1))

    assert (first.calls, second.calls) == (1, 0)
    assert model(torch.ones(1)) == 1
