import re
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

# The largest relative errors of one rounding, of significands of 8 and of 24 bits.
BFLOAT16, FLOAT32 = 2**-8, 2**-24


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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's count of memory")
def test_memory_does_not_grow_with_the_numbers_of_rows() -> None:
    product, x = FrozenProduct(torch.randn(512, 128)), torch.randn(640, 128)
    for rows in {padded_rows(rows) for rows in range(1, 601)}:
        product(x[:rows])
    before = resident_megabytes()

    for rows in range(1, 601):
        product(x[:rows])

    # Without rounding it grows by 200 MB.
    assert resident_megabytes() - before < 20


def resident_megabytes() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmRSS:\s*(\d+)", status)[0]) / 1024


def test_a_product_in_bfloat16_is_rounded_once() -> None:
    x, weight, bias = (operand.bfloat16() for operand in operands())
    exact = linear(x.double(), weight.double(), bias.double())

    product = FrozenProduct(weight.float(), bias.float(), torch.bfloat16)(x.float())

    bound = rounding_error(exact, sum_error(x, weight, bias))
    assert torch.all((product.double() - exact).abs() <= bound)


def sum_error(x: torch.Tensor, weight: torch.Tensor, *terms: torch.Tensor) -> torch.Tensor:
    """Bounds the error of x W^T + terms in float32, in any order (Higham 2002, section 3.1)."""
    size = linear(x.double().abs(), weight.double().abs())
    for term in terms:
        size = size + term.double().abs()
    # Products of two bfloat16 numbers are exact in float32; each addition is rounded.
    steps = (x.shape[1] + len(terms)) * FLOAT32
    return steps / (1 - steps) * size


def rounding_error(exact: torch.Tensor, error: torch.Tensor) -> torch.Tensor:
    """Bounds the error of a number with this error, once the number is rounded to bfloat16."""
    return error + BFLOAT16 * (exact.abs() + error)


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


def test_a_bilm_gives_the_same_layers_without_the_operators(request: pytest.FixtureRequest) -> None:
    char_ids = torch.randint(1, 257, (2, 5, 50))
    fast = make_bilm(OPTIONS, KNOWN_BILMS["mini"])(char_ids).layers
    request.getfixturevalue("no_operators")

    slow = make_bilm(OPTIONS, KNOWN_BILMS["mini"])(char_ids).layers

    torch.testing.assert_close(fast, slow, atol=1e-5, rtol=0)


def test_a_bilm_in_bfloat16_is_close_to_one_in_float32() -> None:
    bilm = make_bilm(OPTIONS, KNOWN_BILMS["mini"])
    half = make_bilm(bilm.raw_options, "mini", dtype="bfloat16")
    char_ids = torch.randint(1, 257, (4, 9, 50))

    exact, close = bilm(char_ids).layers, half(char_ids).layers

    assert close.dtype == torch.float32 and not torch.equal(exact, close)
    assert torch.linalg.norm(close - exact) < 0.02 * torch.linalg.norm(exact)
