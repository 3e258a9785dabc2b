import copy
import json
import logging
import os
import pickle
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from elmo_tasks.bilm import BiLm, BiLmOutput, bilm_from_config
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.store.database import LayerDatabase
from elmo_tasks.store.layer_store import LayerStore
from tests.helpers.bilm_examples import SENTENCE, WORDS, ids_of, sentences
from tests.helpers.processes import end, start
from tests.helpers.reference_bilm import FIXTURE_FILES, make_options, random_files

BATCH = sentences(7, 3, 0, 12, 1)
OTHER_BATCH = [SENTENCE, *BATCH[::-1], WORDS]
ON_DISK_AND_NOT = pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])


@pytest.fixture()
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def fixture_bilm(store: LayerStore | None = None, **params: Any) -> BiLm:
    options = json.loads(FIXTURE_FILES[0].read_text())
    return BiLm(options, str(FIXTURE_FILES[1]), store=store, **params)


def computed_by(bilm: BiLm, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sentences the biLM computes, each time it does."""
    numbers: list[int] = []
    compute = bilm._frozen_layers

    def count(char_ids: torch.Tensor) -> torch.Tensor:
        numbers.append(len(char_ids))
        return compute(char_ids)

    monkeypatch.setattr(bilm, "_frozen_layers", count)
    return numbers


def assert_same(one: BiLmOutput, other: BiLmOutput) -> None:
    torch.testing.assert_close(one.layers, other.layers, rtol=0, atol=0)
    assert torch.equal(one.mask, other.mask)


# Hits.


@pytest.mark.parametrize("state", ["reset", "snapshot"])
@ON_DISK_AND_NOT
def test_hit_is_bit_for_bit_what_was_computed(
    path: str, on_disk: bool, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = fixture_bilm(state=state)(ids_of(BATCH))
    store = LayerStore(path, "float32", 0) if on_disk else LayerStore(dtype="float32")
    bilm = fixture_bilm(store, state=state)
    computed = computed_by(bilm, monkeypatch)

    first, second = bilm(ids_of(BATCH)), bilm(ids_of(BATCH))

    # The one without a token needs no computing.
    assert computed == [4]
    torch.testing.assert_close(first.layers, plain.layers, rtol=0, atol=1e-6)
    assert torch.equal(first.mask, plain.mask)
    assert_same(second, first)


def test_hit_in_another_batch_is_what_computing_it_again_gives_to_1e_5(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixture_bilm(LayerStore(path, "float32"))(ids_of(BATCH))
    bilm = fixture_bilm(LayerStore(path, "float32"))
    computed = computed_by(bilm, monkeypatch)

    output = bilm(ids_of(OTHER_BATCH, more_padding=2))

    # Two of them are new.
    assert computed == [2]
    plain = fixture_bilm()(ids_of(OTHER_BATCH, more_padding=2))
    torch.testing.assert_close(output.layers, plain.layers, rtol=0, atol=1e-5)
    assert torch.equal(output.mask, plain.mask)


@ON_DISK_AND_NOT
def test_float16_is_the_same_in_the_first_pass_and_in_the_second(path: str, on_disk: bool) -> None:
    bilm = fixture_bilm(LayerStore(path, memory=0) if on_disk else LayerStore())

    first, second = bilm(ids_of(BATCH)), bilm(ids_of(BATCH))

    assert_same(second, first)
    assert first.layers.dtype == torch.float32
    rounded = fixture_bilm()(ids_of(BATCH)).layers.half().float()
    torch.testing.assert_close(first.layers, rounded, rtol=2**-10, atol=1e-6)


def test_sentence_that_a_batch_has_twice_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = fixture_bilm(LayerStore())
    computed = computed_by(bilm, monkeypatch)

    layers = bilm(ids_of([SENTENCE, ["It"], SENTENCE])).layers

    assert computed == [2]
    assert torch.equal(layers[0], layers[2])


@pytest.mark.parametrize("shape", [(0, 5, 50), (2, 0, 50), (3, 4, 50)])
def test_nothing_but_padding_gives_zeros(path: str, shape: tuple[int, ...]) -> None:
    layers, mask = fixture_bilm(LayerStore(path))(torch.zeros(shape, dtype=torch.long))

    assert layers.shape == (shape[0], 3, shape[1], 32)
    assert not layers.any() and not mask.any()


def test_layer_0_is_kept_once(path: str) -> None:
    fixture_bilm(LayerStore(path))(ids_of([SENTENCE]))

    sizes = {len(value.key): value.num_bytes for value in LayerDatabase.at(path).values()}
    # One half of layer 0 and both halves of two layers, 16 numbers each, 2 bytes a number.
    assert sizes[32] == len(SENTENCE) * 5 * 16 * 2


def test_memory_keeps_to_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of 6 tokens at 160 bytes.
    bilm = fixture_bilm(LayerStore(memory=0.001))
    computed = computed_by(bilm, monkeypatch)

    for batch in ([["a"] * 4], [["b"]], [["c"] * 2], [["b"]], [["a"] * 4], [["d"] * 9], [["b"]]):
        bilm(ids_of(batch))

    # The third drove the first out, the fifth drove the third out, and the sixth never fitted.
    assert computed == [1, 1, 1, 1, 1]


def test_layers_computed_under_autocast_are_those_without(monkeypatch: pytest.MonkeyPatch) -> None:
    # As on a GPU, where autocast reaches the products.
    monkeypatch.setattr("elmo_tasks.bilm.frozen_product.packs", lambda dtype: False)
    bilm = fixture_bilm(LayerStore(dtype="float32"))
    with torch.autocast("cpu", torch.bfloat16):
        layers = bilm(ids_of(BATCH)).layers

    torch.testing.assert_close(layers, fixture_bilm()(ids_of(BATCH)).layers, rtol=0, atol=1e-5)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copy_of_a_bilm_has_a_store_of_the_same_folder(
    path: str, copied: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = fixture_bilm(LayerStore(path, "float32", 5))
    first = bilm(ids_of(BATCH))

    other = copied(bilm)

    computed = computed_by(other, monkeypatch)
    assert_same(other(ids_of(BATCH)), first)
    assert computed == []
    assert (other.store.path, other.store.dtype, other.store.memory) == (path, "float32", 5)


# Whose layers.


def change(bilm: BiLm) -> BiLm:
    with torch.no_grad():
        bilm.forward_stack.layers[1].bias[3] += 0.5
    bilm.take_snapshot()
    return bilm


def test_other_weights_behind_one_path_get_their_own_layers(path: str, tmp_path: Path) -> None:
    def bilms() -> list[BiLm]:
        small = {
            str(seed): BiLm.from_files(*random_files(tmp_path / str(seed), seed)) for seed in (0, 1)
        }
        relu = make_options()
        clipped = make_options(proj_clip=0.1)
        weights = str(tmp_path / "0" / "weights.hdf5")
        return [
            fixture_bilm(),
            change(fixture_bilm()),
            fixture_bilm(state="reset"),
            fixture_bilm(dtype="bfloat16"),
            *small.values(),
            BiLm(relu, weights, state="reset"),
            BiLm(clipped, weights, state="reset"),
        ]

    for _ in range(2):
        for plain, stored in zip(bilms(), bilms(), strict=True):
            stored.store = LayerStore(path, "float32")
            expected = plain(ids_of(BATCH)).layers
            torch.testing.assert_close(stored(ids_of(BATCH)).layers, expected, rtol=0, atol=1e-5)


def test_weights_that_change_while_the_store_is_open_get_their_own_layers(path: str) -> None:
    bilm = fixture_bilm(LayerStore(path, "float32"))
    bilm(ids_of(BATCH))

    change(bilm)

    expected = change(fixture_bilm())(ids_of(BATCH)).layers
    torch.testing.assert_close(bilm(ids_of(BATCH)).layers, expected, rtol=0, atol=1e-5)


def test_the_dtypes_of_one_path_are_kept_apart(path: str) -> None:
    fixture_bilm(LayerStore(path, "float16"))(ids_of(BATCH))

    layers = fixture_bilm(LayerStore(path, "float32"))(ids_of(BATCH)).layers

    torch.testing.assert_close(layers, fixture_bilm()(ids_of(BATCH)).layers, rtol=0, atol=1e-6)


def moved(by: float) -> BiLm:
    """With a start that differs, as one that was taken on another machine may in its last bits."""
    bilm = fixture_bilm()
    bilm.state.h += by
    return bilm


@pytest.mark.parametrize(("by", "shares"), [(0, True), (1e-6, True), (1e-3, False), (-1, False)])
def test_starts_that_differ_by_more_than_rounding_are_kept_apart(
    path: str, monkeypatch: pytest.MonkeyPatch, by: float, shares: bool
) -> None:
    fixture_bilm(LayerStore(path, "float32"))(ids_of(BATCH))
    for _ in range(2):
        bilm = moved(by)
        bilm.store = LayerStore(path, "float32")
        computed = computed_by(bilm, monkeypatch)
        layers = bilm(ids_of(BATCH)).layers
        torch.testing.assert_close(layers, moved(by)(ids_of(BATCH)).layers, rtol=0, atol=1e-5)
        assert computed == ([] if shares else [4])
        shares = True


def test_fingerprint_is_of_the_weights_and_not_of_the_object(tmp_path: Path) -> None:
    bilm = fixture_bilm()
    loaded = BiLm(json.loads(FIXTURE_FILES[0].read_text()))
    loaded.load_state_dict(bilm.state_dict())
    bilm.to_files(tmp_path)

    assert bilm.fingerprint() == fixture_bilm().fingerprint() == loaded.fingerprint()
    options_file, weight_file = (tmp_path / file.name for file in FIXTURE_FILES)
    assert BiLm.from_files(options_file, weight_file).fingerprint() == bilm.fingerprint()
    assert change(bilm).fingerprint() != loaded.fingerprint()


# Processes.


def test_ten_processes_that_fill_one_store_read_what_they_would_compute(path: str) -> None:
    texts = [sentence for length in range(1, 31) for sentence in sentences(length, length + 1)]
    bilm = fixture_bilm(LayerStore(path, "float32", 0))
    plain = fixture_bilm()
    expected = [plain(ids_of([text])).layers[0] for text in texts]
    # Open before the fork, which must not use what it inherits.
    bilm(ids_of(texts[:1]))

    def work(seed: int) -> None:
        generator = random.Random(seed)
        for _ in range(10):
            chosen = generator.sample(range(len(texts)), 8)
            layers = bilm(ids_of([texts[number] for number in chosen])).layers
            for row, number in zip(layers, chosen):
                row = row[:, : len(texts[number])]
                torch.testing.assert_close(row, expected[number], rtol=0, atol=1e-5)

    processes = [start(partial(work, seed)) for seed in range(10)]

    assert [end(process) for process in processes] == [0] * 10
    work(10)


def test_damaged_store_costs_a_recomputation_and_one_message(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    first = fixture_bilm(LayerStore(path, "float32"))(ids_of(BATCH))
    os.truncate(os.path.join(path, "data.mdb"), 9000)
    LayerDatabase.at(path).close()
    bilm = fixture_bilm(LayerStore(path, "float32"))

    for _ in range(3):
        assert_same(bilm(ids_of(BATCH)), first)

    (message,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "is damaged; delete it" in message.getMessage()


# Refusals.


@pytest.mark.parametrize(
    "params",
    [{"requires_grad": True, "state": "reset"}, {"state": "carry"}, {"dropout": 0.1}],
    ids=str,
)
def test_bilm_whose_layers_change_is_refused(path: str, params: dict) -> None:
    with pytest.raises(ConfigurationError, match="same layers every time: without requires_grad"):
        fixture_bilm(LayerStore(path), **params)

    assert not os.path.exists(path)


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"dtype": "bfloat16"}, "must be float16 or float32, not 'bfloat16'"),
        ({"memory": -1}, "must be 0 or more megabytes, not -1"),
        ({"memory": float("nan")}, "must be 0 or more megabytes, not nan"),
    ],
)
def test_wrong_parameter_is_refused(params: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        LayerStore(**params)


def test_path_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")

    with pytest.raises(ConfigurationError, match="must be a folder, but .* is a file"):
        LayerStore(str(tmp_path / "store"))


def test_value_that_the_dtype_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bilm = fixture_bilm(LayerStore())
    compute = bilm._frozen_layers
    monkeypatch.setattr(bilm, "_frozen_layers", lambda char_ids: 1e5 * compute(char_ids))

    with pytest.raises(ConfigurationError, match="a value beyond float16, the dtype of its store"):
        bilm(ids_of(BATCH))


# Configs and archives.


def test_config_gives_a_store(path: str) -> None:
    params = {
        "options": json.loads(FIXTURE_FILES[0].read_text()),
        "pretrained_file": str(FIXTURE_FILES[1]),
        "store": {"path": path, "dtype": "float32", "memory": 20},
    }

    bilm = bilm_from_config(params)

    assert isinstance(bilm.store, LayerStore)
    assert (bilm.store.path, bilm.store.dtype, bilm.store.memory) == (path, "float32", 20)
    # It is opened at the first use.
    assert not os.path.exists(path)


@pytest.mark.parametrize(
    ("asked_for", "opened"),
    [(None, False), ({"path": "other"}, True), ({"dtype": "float32"}, True)],
    ids=str,
)
def test_archive_has_no_store_but_one_that_was_asked_for(
    tmp_path: Path, asked_for: dict[str, Any] | None, opened: bool
) -> None:
    trained = {"options": json.loads(FIXTURE_FILES[0].read_text()), "store": {"path": "trained"}}
    config = {"model": {"text_embedder": {"bilm": trained}}, "train_data_path": "x"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    params = copy.deepcopy(trained)
    params["store"] = asked_for or params["store"]

    bilm = bilm_from_config(params, str(tmp_path))

    assert (bilm.store is not None) == opened


def test_training_that_is_recovered_has_its_store(tmp_path: Path) -> None:
    params = {"options": json.loads(FIXTURE_FILES[0].read_text()), "store": {"path": "trained"}}
    params["pretrained_file"] = str(FIXTURE_FILES[1])
    (tmp_path / "config.json").write_text(json.dumps({"model": {"bilm": params}}))

    bilm = bilm_from_config(copy.deepcopy(params), str(tmp_path))

    assert bilm.store is not None


def test_folder_that_is_deleted_between_batches_is_filled_again(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = fixture_bilm(LayerStore(path, "float32", 0))
    first = bilm(ids_of(BATCH))
    shutil.rmtree(path)
    computed = computed_by(bilm, monkeypatch)

    assert_same(bilm(ids_of(BATCH)), first)
    assert_same(bilm(ids_of(BATCH)), first)
    assert computed == [4]


def test_entries_are_arrays_that_no_batch_changes() -> None:
    bilm = fixture_bilm(LayerStore(dtype="float32"))
    first = bilm(ids_of(BATCH)).layers

    kept = first.clone()
    first.fill_(numpy.nan)

    assert torch.equal(bilm(ids_of(BATCH)).layers, kept)
