import pytest
import torch
from allennlp.modules import FeedForward
from allennlp.nn import Activation

from elmo_tasks.modules import product as products
from elmo_tasks.modules.product import Linear, product, step_product, summed_product, use_products


@pytest.fixture(params=["this CPU's", "linear"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the products that this CPU has, and those of a CPU without AVX-512."""
    if request.param == "linear":
        monkeypatch.setattr(products, "_has_fast_onednn", lambda: False)


# No block of oneDNN's products, whole blocks, a rest below half a block and one above.
TOKENS = [0, 1, 100, 256, 300, 512, 700, 1400]


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("num_tokens", TOKENS)
def test_products_are_those_of_float64(num_tokens: int) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(num_tokens, 20), torch.randn(num_tokens, 12)
    weight, bias = torch.randn(12, 20), torch.randn(12)
    close = {"check_dtype": False, "atol": 1e-4, "rtol": 1e-5}

    found = [product(x, weight, bias), product(y, weight.t()), summed_product(x, y)]

    x, y, weight, bias = (each.double() for each in (x, y, weight, bias))
    for each, expected in zip(found, [x @ weight.t() + bias, y @ weight, x.t() @ y], strict=True):
        torch.testing.assert_close(each, expected, **close)


@pytest.mark.usefixtures("_way")
def test_product_of_a_step_adds_a_bias_or_a_tensor() -> None:
    torch.manual_seed(0)
    x, weight, bias, added = (torch.randn(*shape) for shape in ((32, 6), (8, 6), (8,), (32, 8)))

    found = [step_product(x, weight, bias), step_product(x, weight, added=added)]

    plain = x @ weight.t()
    for each, expected in zip(found, [plain + bias, plain + added], strict=True):
        torch.testing.assert_close(each, expected)


@pytest.mark.usefixtures("_way")
def test_a_layer_has_the_output_and_the_gradients_of_pytorchs() -> None:
    torch.manual_seed(0)
    theirs = torch.nn.Linear(20, 12)
    x = torch.randn(3, 150, 20)
    results = []

    for layer in (theirs, Linear.like(theirs)):
        layer.zero_grad()
        inputs = x.clone().requires_grad_()
        output = layer(inputs)
        output.square().mean().backward()
        results.append([output, inputs.grad, *(p.grad.clone() for p in layer.parameters())])

    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(found, expected)


def test_a_feed_forward_network_keeps_its_weights_and_their_names() -> None:
    network = FeedForward(4, 2, 3, Activation.by_name("relu")())
    before = dict(network.named_parameters())

    use_products(network)

    after = dict(network.named_parameters())
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)
