import pytest
import torch
from torch.nn.functional import linear

from elmo_tasks.kernels import trained_product as products
from elmo_tasks.kernels.trained_product import (
    product,
    step_product,
    summed_product,
    trained_product,
)
from tests.helpers.products import Products


@pytest.fixture(params=["this CPU's", "without AVX-512", "PyTorch's"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the products that this CPU has, those of a CPU without AVX-512, and PyTorch's."""
    if request.param != "this CPU's":
        monkeypatch.setattr(products, "_has_avx512", lambda: False)
    if request.param == "PyTorch's":
        monkeypatch.setattr(products, "_by_onednn", lambda x: False)


# No row, part of a block, whole blocks, and whole blocks with a rest.
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
def test_product_of_a_step_is_that_of_linear() -> None:
    torch.manual_seed(0)
    x, weight, bias = torch.randn(32, 6), torch.randn(8, 6), torch.randn(8)

    found = [step_product(x, weight), step_product(x, weight, bias)]

    for each, expected in zip(found, [x @ weight.t(), x @ weight.t() + bias], strict=True):
        torch.testing.assert_close(each, expected)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_trained_product_has_the_value_and_gradients_of_linear(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    tensors = [torch.randn(3, 150, 20), torch.randn(12, 20), torch.randn(12)]
    tolerance = 1e-5 if dtype == torch.float32 else 2**-6
    results = []

    for multiply, autocast in ((linear, False), (trained_product, dtype == torch.bfloat16)):
        inputs = [tensor.clone().requires_grad_() for tensor in tensors]
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            y = multiply(*inputs)
        y.float().square().mean().backward()
        assert y.dtype == (dtype if autocast else torch.float32)
        results.append([y.float(), *(each.grad for each in inputs)])

    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(
            found, expected, rtol=tolerance, atol=tolerance * expected.abs().max().item()
        )


def test_products_have_few_numbers_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    # oneDNN keeps code for each shape.
    multiply, shapes = products._multiply, set()

    def counted(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None):
        shapes.add((x.shape, weight.shape))
        return multiply(x, weight, bias)

    monkeypatch.setattr(products, "_multiply", counted)
    monkeypatch.setattr(products, "_has_avx512", lambda: True)
    narrow, wide, weight = torch.randn(2048, 4), torch.randn(2048, 8), torch.randn(8, 4)

    for num_tokens in range(1024, 2049, 3):
        product(narrow[:num_tokens], weight)
        product(wide[:num_tokens], weight.t())
        summed_product(wide[:num_tokens], narrow[:num_tokens])

    # One product has one of nine numbers of rows; blocks have one of 56 up to 512.
    assert 0 < len(shapes) <= 9 + 2 * 56


def test_matrices_with_gaps_between_their_rows_do_not_make_a_product_slow() -> None:
    x, y, weight = torch.randn(512, 100), torch.randn(512, 360), torch.randn(300, 160)

    with Products() as products:
        summed_product(x, y[:, :300])
        product(x, weight[:, :100])

    assert products.num_calls == 2
    assert products.slow() == []
