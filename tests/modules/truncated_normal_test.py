import torch
from allennlp.nn import Initializer


def test_nothing_is_beyond_two_standard_deviations() -> None:
    torch.manual_seed(0)
    weights = torch.nn.Parameter(torch.empty(200, 200))

    Initializer.by_name("elmo_truncated_normal")(std=0.05)(weights)

    assert weights.abs().max() <= 0.1
    # Cut at two standard deviations, a normal distribution has 0.8796 of its standard deviation.
    assert abs(weights.std().item() / 0.05 - 0.8796) < 0.01
    assert abs(weights.mean().item()) < 0.001
