import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.nn.functional import linear

from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.locate import KNOWN_BILMS
from elmo_tasks.kernels import frozen_product
from elmo_tasks.kernels.frozen_product import FrozenProduct, has_bfloat16, padded_rows, used_dtype
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.reference_bilm import make_options
from tests.helpers.stored_bilms import fixture_bilm

OPTIONS = Path(KNOWN_BILMS["mini"]).with_name("options.json")


@pytest.fixture
def no_operators(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets products run as with a PyTorch or a CPU that cannot pack weights."""

    def missing(weight: torch.Tensor) -> torch.Tensor:
        raise AttributeError("no such operator")

    monkeypatch.setattr(frozen_product, "_onednn_layout", missing)
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
    multiply, sizes = frozen_product.onednn_product, set()

    def counted(x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        sizes.add(len(x))
        return multiply(x, *others)

    product, x = FrozenProduct(torch.randn(64, 32)), torch.randn(600, 32)
    monkeypatch.setattr(frozen_product, "onednn_product", counted)
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


def test_the_check_of_onednn_draws_no_random_number_of_a_training() -> None:
    before = torch.get_rng_state()

    for dtype in (torch.float32, torch.bfloat16):
        frozen_product.has_onednn.cache_clear()
        frozen_product.has_onednn(dtype)

    assert torch.equal(torch.get_rng_state(), before)


def test_a_dtype_that_onednn_cannot_multiply_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    frozen_product.has_onednn.cache_clear()

    with caplog.at_level("INFO"):
        assert not frozen_product.has_onednn(torch.float64)

    assert not caplog.records


def test_a_bilm_in_bfloat16_is_close_to_one_in_float32() -> None:
    bilm = make_bilm(OPTIONS, KNOWN_BILMS["mini"])
    half = make_bilm(bilm.raw_options, KNOWN_BILMS["mini"], dtype="bfloat16")
    char_ids = torch.randint(1, 257, (4, 9, 50))

    exact, close = bilm(char_ids).layers, half(char_ids).layers

    assert close.dtype == torch.float32 and not torch.equal(exact, close)
    assert torch.linalg.norm(close - exact) < 0.02 * torch.linalg.norm(exact)


CPU = torch.device("cpu")


@pytest.fixture
def no_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this CPU one without units for bfloat16."""
    monkeypatch.setattr(frozen_product, "has_bfloat16", lambda device_type: device_type == "meta")


def test_auto_is_bfloat16_only_where_there_are_units_and_a_name_is_taken_as_it_is(
    no_units: None,
) -> None:
    assert used_dtype("auto", CPU) == "float32"
    assert used_dtype("auto", torch.device("meta")) == "bfloat16"
    assert [used_dtype(name, CPU) for name in ("float32", "bfloat16")] == ["float32", "bfloat16"]


@pytest.mark.skipif(os.environ.get("ONEDNN_MAX_CPU_ISA") != "AVX2", reason="variable is not set")
def test_onednns_variable_can_forbid_bfloat16() -> None:
    assert not has_bfloat16("cpu")


def test_avx_512_without_units_for_bfloat16_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    has_bfloat16.cache_clear()
    try:
        assert not has_bfloat16("cpu")
    finally:
        has_bfloat16.cache_clear()


def test_a_frozen_bilm_takes_the_dtype_of_its_device(no_units: None) -> None:
    bilm = make_bilm(make_options(), dtype="auto")

    assert bilm.dtype == "float32"
    bilm.to("meta")
    assert bilm.dtype == "bfloat16"
    assert bilm.double().dtype == "float32"


def test_a_bilm_that_trains_has_its_products_in_float32() -> None:
    assert make_bilm(make_options(), requires_grad=True, dtype="auto").trains

    with pytest.raises(ConfigurationError, match="requires_grad"):
        make_bilm(make_options(), requires_grad=True, dtype="bfloat16")
    with pytest.raises(ConfigurationError, match="one of auto, float32, bfloat16, not 'int4'"):
        make_bilm(make_options(), dtype="int4")


@pytest.mark.parametrize("units", [False, True])
def test_auto_gives_the_layers_and_the_fingerprint_of_the_dtype_that_it_stands_for(
    units: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frozen_product, "has_bfloat16", lambda _: units)
    named, other = ("bfloat16", "float32") if units else ("float32", "bfloat16")
    bilms = {name: FrozenBiLm.of(fixture_bilm(), dtype=name) for name in ("auto", named, other)}

    assert bilms["auto"].fingerprint() == bilms[named].fingerprint()
    assert bilms["auto"].fingerprint() != bilms[other].fingerprint()
    layers = {name: bilm(ids_of([SENTENCE])).layers for name, bilm in bilms.items()}
    assert torch.equal(layers["auto"], layers[named])
    assert not torch.equal(layers["auto"], layers[other])
