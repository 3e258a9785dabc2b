import pytest
import torch
from allennlp.modules import FeedForward
from allennlp.nn import Activation, Initializer

from elmo_tasks.modules.layers import Linear, use_products
from tests.helpers.gradients import results


def test_a_layer_has_the_output_and_the_gradients_of_pytorchs() -> None:
    torch.manual_seed(0)
    theirs = torch.nn.Linear(20, 12)
    x = torch.randn(3, 150, 20)

    torch.testing.assert_close(results(Linear.like(theirs), x), results(theirs, x))


def test_a_feed_forward_network_keeps_its_weights_and_their_names() -> None:
    network = FeedForward(4, 2, 3, Activation.by_name("relu")())
    before = dict(network.named_parameters())

    use_products(network)

    after = dict(network.named_parameters())
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)


def test_a_layer_is_made_of_another_without_random_numbers_and_sympy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs, before = torch.nn.Linear(3, 2), torch.get_rng_state()
    # PyTorch imports SymPy, 30 MB, to move a module to another device.
    monkeypatch.setattr(torch.nn.Module, "to_empty", None)

    ours = Linear.like(theirs)

    assert ours.weight is theirs.weight and ours.bias is theirs.bias
    assert torch.equal(torch.get_rng_state(), before)


def test_nothing_is_beyond_two_standard_deviations() -> None:
    torch.manual_seed(0)
    weights = torch.nn.Parameter(torch.empty(200, 200))

    Initializer.by_name("elmo_truncated_normal")(std=0.05)(weights)

    assert weights.abs().max() <= 0.1
    # Cut at two standard deviations, a normal distribution has 0.8796 of its standard deviation.
    assert abs(weights.std().item() / 0.05 - 0.8796) < 0.01
    assert abs(weights.mean().item()) < 0.001
