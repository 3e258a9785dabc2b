from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.nn.functional import linear

from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.files.known_bilms import KNOWN_BILMS
from elmo_tasks.kernels import frozen_product
from elmo_tasks.kernels.frozen_product import FrozenProduct, padded_rows

OPTIONS = Path(KNOWN_BILMS["mini"]).with_name("options.json")


@pytest.fixture
def no_operators(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets products run as with a PyTorch or a CPU that cannot pack weights."""

    def missing(weight: torch.Tensor) -> torch.Tensor:
        raise AttributeError("no such operator")

    monkeypatch.setattr(frozen_product, "_laid_out", missing)
    frozen_product.has_onednn.cache_clear()
    yield
    frozen_product.has_onednn.cache_clear()


def operands(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return tuple(torch.randn(shape, dtype=dtype) for shape in ((7, 32), (64, 32), (64,)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_product_is_that_of_linear(dtype: torch.dtype) -> None:
    x, weight, bias = operands(dtype)

    torch.testing.assert_close(FrozenProduct(weight, bias)(x), linear(x, weight, bias))


@pytest.mark.parametrize("rows", [0, 1, 2, 17, 97])
@pytest.mark.parametrize("spare", [0, 20])
def test_a_product_of_any_number_of_rows_is_that_of_linear(rows: int, spare: int) -> None:
    _, weight, bias = operands()
    # With spare rows, x is the beginning of a larger tensor, here with NaN.
    x = torch.randn(rows + spare, 32)
    x[rows:] = torch.nan
    x = x[:rows]

    product = FrozenProduct(weight, bias)

    torch.testing.assert_close(product(x), linear(x, weight, bias))
    torch.testing.assert_close(product(x[1:]), linear(x[1:], weight, bias))


def test_numbers_of_rows_are_rounded_up_to_few_by_little() -> None:
    rounded = {rows: padded_rows(rows) for rows in range(1, 6401)}

    assert all(rounded[rows] == rows for rows in range(1, 17))
    assert all(0 <= rounded[rows] - rows < rows / 8 for rows in rounded)
    assert all(padded_rows(rows) == rows for rows in rounded.values())
    assert len(set(rounded.values())) < 90


def test_products_have_few_numbers_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    multiply, sizes = frozen_product.multiplied, set()

    def counted(x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        sizes.add(len(x))
        return multiply(x, *others)

    product, x = FrozenProduct(torch.randn(64, 32)), torch.randn(600, 32)
    monkeypatch.setattr(frozen_product, "multiplied", counted)
    for rows in range(600):
        product(x[:rows])

    # oneDNN keeps 0.5 MB of code for each.
    assert len(sizes) < 70


def test_a_product_in_bfloat16_is_rounded_once() -> None:
    x, weight, bias = (operand.bfloat16() for operand in operands())
    exact = linear(x.double(), weight.double(), bias.double())

    product = FrozenProduct(weight.float(), bias.float(), torch.bfloat16)(x.float())

    # A significand has 8 bits; the errors of the sum in float32 are far smaller.
    torch.testing.assert_close(product.double(), exact, rtol=2**-8, atol=1e-4)


def test_without_the_operators_a_product_is_linear(
    no_operators: None, caplog: pytest.LogCaptureFixture
) -> None:
    x, weight, bias = operands()

    with caplog.at_level("INFO"):
        assert torch.equal(FrozenProduct(weight, bias)(x), linear(x, weight, bias))

    assert caplog.text.count("cannot lay weights out here (no such operator)") == 1


def test_the_operators_are_used_where_they_work() -> None:
    x, weight, bias = operands()
    try:
        laid_out = torch.ops.mkldnn._reorder_linear_weight(weight, 7)
        product = torch.ops.mkldnn._linear_pointwise(x, laid_out, bias, "none", [], "")
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        pytest.skip("PyTorch has no products with laid-out weights on this machine")
    torch.testing.assert_close(product, linear(x, weight, bias))

    frozen_product.has_onednn.cache_clear()

    assert frozen_product.has_onednn(torch.float32)


def test_a_dtype_that_onednn_cannot_multiply_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    frozen_product.has_onednn.cache_clear()

    with caplog.at_level("INFO"):
        assert not frozen_product.has_onednn(torch.float64)

    assert not caplog.records


def test_a_bilm_in_bfloat16_is_close_to_one_in_float32() -> None:
    bilm = make_bilm(OPTIONS, KNOWN_BILMS["mini"])
    half = make_bilm(bilm.raw_options, "mini", dtype="bfloat16")
    char_ids = torch.randint(1, 257, (4, 9, 50))

    exact, close = bilm(char_ids).layers, half(char_ids).layers

    assert close.dtype == torch.float32 and not torch.equal(exact, close)
    assert torch.linalg.norm(close - exact) < 0.02 * torch.linalg.norm(exact)
