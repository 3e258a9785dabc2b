import os

import pytest
import torch

from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.kernels import dtypes
from elmo_tasks.kernels.dtypes import has_bfloat16, used_dtype
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.reference_bilm import make_options
from tests.helpers.stored_bilms import fixture_bilm

CPU = torch.device("cpu")


@pytest.fixture
def no_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this CPU one without units for bfloat16."""
    monkeypatch.setattr(dtypes, "has_bfloat16", lambda device_type: device_type == "meta")


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

    with pytest.raises(ConfigurationError, match="its dtype must be auto or float32"):
        make_bilm(make_options(), requires_grad=True, dtype="bfloat16")
    with pytest.raises(ConfigurationError, match="one of auto, float32, bfloat16, not 'int4'"):
        make_bilm(make_options(), dtype="int4")


@pytest.mark.parametrize("units", [False, True])
def test_auto_gives_the_layers_and_the_fingerprint_of_the_dtype_that_it_stands_for(
    units: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dtypes, "has_bfloat16", lambda _: units)
    named, other = ("bfloat16", "float32") if units else ("float32", "bfloat16")
    bilms = {name: FrozenBiLm.of(fixture_bilm(), dtype=name) for name in ("auto", named, other)}

    assert bilms["auto"].fingerprint() == bilms[named].fingerprint()
    assert bilms["auto"].fingerprint() != bilms[other].fingerprint()
    assert bilms["auto"].fingerprint() in bilms[other].fingerprints()
    layers = {name: bilm(ids_of([SENTENCE])).layers for name, bilm in bilms.items()}
    assert torch.equal(layers["auto"], layers[named])
    assert not torch.equal(layers["auto"], layers[other])
