import copy
import functools
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.store.layer_store import LayerStore, encode
from tests.helpers.bilm_examples import ids_of, sentences
from tests.helpers.reference_bilm import make_options, random_files
from tests.helpers.stored_bilms import bilm_with_other_start, change, computed_by, fixture_bilm

BATCH = sentences(7, 3, 0, 12, 1)


@pytest.fixture()
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store")


# Hits.


@functools.cache
def plain(state: str) -> BiLm:
    return fixture_bilm(state=state)


@given(
    batches=st.lists(st.lists(st.sampled_from(BATCH), min_size=1, max_size=4), max_size=4),
    more_padding=st.integers(0, 2),
    dtype=st.sampled_from(["float16", "float32"]),
    kept=st.sampled_from(["in memory", "on disk", "in both"]),
    state=st.sampled_from(["reset", "snapshot"]),
)
def test_layers_are_those_of_the_bilm_and_each_sentence_is_computed_once(
    batches: list[list[list[str]]], more_padding: int, dtype: str, kept: str, state: str
) -> None:
    memory = 0 if kept == "on disk" else 1000
    seen: dict[tuple[str, ...], torch.Tensor] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = LayerStore(None if kept == "in memory" else folder, dtype, memory)
        bilm = fixture_bilm(store, state=state)
        computed = computed_by(bilm)
        for batch in batches:
            layers, mask = bilm(ids_of(batch, more_padding))

            expected, expected_mask = plain(state)(ids_of(batch, more_padding))
            assert layers.dtype == torch.float32 and torch.equal(mask, expected_mask)
            if dtype == "float16":
                # The layers are rounded when they are computed, too.
                assert torch.equal(layers.half().float(), layers)
            tolerance = 2**-10 if dtype == "float16" else 0
            torch.testing.assert_close(layers, expected, rtol=tolerance, atol=1e-5)
            for row, words in zip(layers, batch):
                own = row[:, : len(words)].clone()
                assert torch.equal(own, seen.setdefault(tuple(words), own))
            # An entry does not change with the layers that were returned.
            layers.fill_(torch.nan)

        assert bilm(torch.zeros(0, 5, 50, dtype=torch.long)).layers.shape == (0, 3, 5, 32)
    assert sum(computed) == len([words for words in seen if words])


def test_the_layers_in_memory_keep_to_their_bound() -> None:
    # There is room for 6 tokens of 160 bytes.
    bilm = fixture_bilm(LayerStore(memory=0.001))
    computed = computed_by(bilm)

    for batch in ([["a"] * 4], [["b"]], [["c"] * 2], [["b"]], [["a"] * 4], [["d"] * 9], [["b"]]):
        bilm(ids_of(batch))

    # Batch 3 drove batch 1 out, batch 5 drove batch 3 out, and batch 6 never fitted.
    assert computed == [1, 1, 1, 1, 1]


def test_autocast_does_not_change_the_layers_of_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without packed weights, autocast changes the dtype of products, as it does on a GPU.
    monkeypatch.setattr("elmo_tasks.kernels.frozen_product.has_onednn", lambda dtype: False)
    bilm = fixture_bilm(LayerStore(dtype="float32"))

    with torch.autocast("cpu", torch.bfloat16):
        layers = bilm(ids_of(BATCH)).layers

    torch.testing.assert_close(layers, fixture_bilm()(ids_of(BATCH)).layers, rtol=0, atol=1e-5)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_of_a_bilm_has_a_store_in_the_same_folder(path: str, copied: Callable) -> None:
    bilm = fixture_bilm(LayerStore(path, "float32", 5))
    first = bilm(ids_of(BATCH))

    other = copied(bilm)

    computed = computed_by(other)
    torch.testing.assert_close(other(ids_of(BATCH)), first, rtol=0, atol=0)
    assert computed == []
    assert (other.store.path, other.store.dtype, other.store.memory) == (path, "float32", 5)


# Several biLMs in one store.


def test_bilms_with_other_weights_or_settings_get_their_own_layers(
    path: str, tmp_path: Path
) -> None:
    def bilms() -> list[BiLm]:
        small = {str(seed): make_bilm(*random_files(tmp_path / str(seed), seed)) for seed in (0, 1)}
        weights = str(tmp_path / "0" / "weights.hdf5")
        return [
            fixture_bilm(),
            change(fixture_bilm()),
            fixture_bilm(state="reset"),
            fixture_bilm(dtype="bfloat16"),
            *small.values(),
            make_bilm(make_options(), weights, state="reset"),
            make_bilm(make_options(proj_clip=0.1), weights, state="reset"),
        ]

    layers = [plain(ids_of(BATCH)).layers for plain in bilms()]
    for dtype, tolerance in (("float16", 2**-10), ("float32", 0), ("float32", 0)):
        for expected, stored in zip(layers, bilms(), strict=True):
            stored.store = LayerStore(path, dtype)
            found = stored(ids_of(BATCH)).layers
            torch.testing.assert_close(found, expected, rtol=tolerance, atol=1e-5)
    # The weights may change while the store is open.
    bilm, expected = fixture_bilm(LayerStore(path)), change(fixture_bilm())(ids_of(BATCH)).layers
    bilm(ids_of(BATCH))
    torch.testing.assert_close(change(bilm)(ids_of(BATCH)).layers, expected, rtol=2**-10, atol=1e-5)


@pytest.mark.parametrize(("by", "shares"), [(0, True), (1e-6, True), (1e-3, False), (-1, False)])
def test_bilms_whose_start_states_differ_by_more_than_rounding_are_kept_apart(
    path: str, by: float, shares: bool
) -> None:
    fixture_bilm(LayerStore(path, "float32"))(ids_of(BATCH))
    for _ in range(2):
        bilm = bilm_with_other_start(by)
        bilm.store = LayerStore(path, "float32")
        computed = computed_by(bilm)
        layers = bilm(ids_of(BATCH)).layers
        torch.testing.assert_close(
            layers, bilm_with_other_start(by)(ids_of(BATCH)).layers, rtol=0, atol=1e-5
        )
        assert computed == ([] if shares else [4])
        shares = True


# Errors.


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"requires_grad": True, "state": "reset"}, "a biLM that trains .* has no store, and its"),
        ({"state": "carry"}, "same layers every time: set state to reset or snapshot"),
        ({"dropout": 0.1}, "dropout needs a biLM that trains"),
    ],
    ids=str,
)
def test_a_bilm_whose_layers_change_is_refused(path: str, params: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        fixture_bilm(LayerStore(path), **params)

    assert not os.path.exists(path)


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"dtype": "bfloat16"}, "must be float16 or float32, not 'bfloat16'"),
        ({"memory": -1}, "must be 0 or more megabytes, not -1"),
        ({"memory": float("nan")}, "must be 0 or more megabytes, not nan"),
        ({"path": __file__}, "must be a folder, but .* is a file"),
    ],
)
def test_a_wrong_parameter_is_refused(params: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        LayerStore(**params)


def test_a_path_may_begin_with_a_tilde_and_need_not_be_utf8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    store = LayerStore(os.path.join("~", os.fsdecode(b"st\xff")))

    fixture_bilm(store)(ids_of(BATCH))

    assert os.listdir(os.path.join(tmp_path, os.fsdecode(b"st\xff")))
    with pytest.raises(ConfigurationError, match="~/file"):
        LayerStore("~/file")


@pytest.mark.parametrize(("dtype", "value"), [("float16", 1e5), ("float32", torch.nan)])
def test_a_value_that_the_dtype_cannot_hold_is_refused(dtype: str, value: float) -> None:
    layers = torch.zeros(3, 5, 8)
    layers[1, 2, 3] = value

    with pytest.raises(ConfigurationError, match=f"too large for {dtype}"):
        encode(layers, dtype)
