from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.nn.functional import linear

from elmo_tasks.bilm import BiLm, frozen_product
from elmo_tasks.bilm.files.known_bilms import KNOWN_BILMS
from elmo_tasks.bilm.frozen_product import FrozenProduct, Product

OPTIONS = Path(KNOWN_BILMS["mini"]).with_name("options.json")


@pytest.fixture
def no_operators(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a PyTorch that has no such operators, or others."""

    def missing(weight: torch.Tensor) -> torch.Tensor:
        raise AttributeError("no such operator")

    monkeypatch.setattr(frozen_product, "_pack", missing)
    frozen_product.packs.cache_clear()
    yield
    frozen_product.packs.cache_clear()


def operands(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return tuple(torch.randn(shape, dtype=dtype) for shape in ((7, 32), (64, 32), (64,), (7, 64)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_product_is_that_of_linear(dtype: torch.dtype) -> None:
    x, weight, bias, added = operands(dtype)

    torch.testing.assert_close(FrozenProduct(weight, bias)(x), linear(x, weight, bias))
    expected = linear(x, weight, bias) + added
    torch.testing.assert_close(FrozenProduct(weight, bias)(x, added), expected)


def test_what_is_added_is_left_as_it_was() -> None:
    x, weight, _, added = operands()
    before = added.clone()

    for dtype in (torch.float32, torch.bfloat16):
        given = added.to(dtype)
        FrozenProduct(weight, dtype=dtype)(x, given)

        assert torch.equal(given, before.to(dtype))


def test_a_product_in_bfloat16_is_rounded_once() -> None:
    x, weight, bias, added = (operand.bfloat16() for operand in operands())
    exact = linear(x.double(), weight.double(), bias.double())

    product = FrozenProduct(weight.float(), bias.float(), torch.bfloat16)

    # bfloat16 has 8 bits.
    close = {"atol": 1e-5, "rtol": 2**-8}
    torch.testing.assert_close(product(x.float()).double(), exact, **close)
    torch.testing.assert_close(product(x, added).double(), exact + added.double(), **close)


def test_without_the_operators_a_product_is_linear(
    no_operators: None, caplog: pytest.LogCaptureFixture
) -> None:
    x, weight, bias, added = operands()

    with caplog.at_level("INFO"):
        assert torch.equal(FrozenProduct(weight, bias)(x), linear(x, weight, bias))
        assert torch.equal(FrozenProduct(weight)(x, added), linear(x, weight) + added)

    assert caplog.text.count("cannot lay weights out here (no such operator)") == 1


def test_a_bilm_gives_the_same_layers_without_the_operators(
    request: pytest.FixtureRequest,
) -> None:
    char_ids = torch.randint(1, 257, (2, 5, 50))
    fast = BiLm.from_files(OPTIONS, KNOWN_BILMS["mini"])(char_ids).layers
    request.getfixturevalue("no_operators")

    slow = BiLm.from_files(OPTIONS, KNOWN_BILMS["mini"])(char_ids).layers

    torch.testing.assert_close(fast, slow, atol=1e-5, rtol=0)


def test_a_bilm_in_bfloat16_is_close_to_one_in_float32() -> None:
    bilm = BiLm.from_files(OPTIONS, KNOWN_BILMS["mini"])
    half = BiLm(bilm._raw_options, "mini", dtype="bfloat16")
    char_ids = torch.randint(1, 257, (4, 9, 50))

    exact, close = bilm(char_ids).layers, half(char_ids).layers

    assert close.dtype == torch.float32 and not torch.equal(exact, close)
    assert torch.linalg.norm(close - exact) < 0.02 * torch.linalg.norm(exact)


def test_a_gradient_is_had_where_it_is_wanted() -> None:
    x, weight, bias, _ = operands()
    weight.requires_grad_()
    product = Product()

    product(x, weight, bias).sum().backward()

    torch.testing.assert_close(weight.grad, x.sum(dim=0).expand(64, -1))
    with torch.no_grad():
        assert not product(x, weight, bias).requires_grad
