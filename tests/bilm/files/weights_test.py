import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy
import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.bilm.files import layout
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.reference_bilm import (
    FIXTURE_FILES,
    Array,
    make_options,
    random_files,
    random_weights,
    read_datasets,
    shapes,
    upstream_layers,
    upstream_tensors,
    write_files,
)

SHAPES: list[dict[str, Any]] = [
    {},
    {"filters": [[3, 4], [1, 2]], "n_highway": 1, "n_layers": 3, "cell_clip": None},
    {"filters": [[2, 6]], "n_highway": 0, "n_layers": 1},
]
CELL = "RNN_1/RNN/MultiRNNCell/Cell0/LSTMCell"


def assert_same_state(bilm: BiLm, expected: BiLm) -> None:
    state, expected_state = bilm.state_dict(), expected.state_dict()
    assert state.keys() == expected_state.keys()
    for name, tensor in state.items():
        assert torch.equal(tensor, expected_state[name]), name


# Reading and writing.


@pytest.mark.parametrize("shape", SHAPES)
def test_every_parameter_is_allennlps(tmp_path: Path, shape: dict) -> None:
    files = random_files(tmp_path, **shape)

    found = dict(make_bilm(*files).named_parameters())

    expected = upstream_tensors(_ElmoBiLm(*files), lambda parameter: parameter.detach())
    assert found.keys() == expected.keys()
    for name, parameter in found.items():
        assert torch.equal(parameter, expected[name]), name


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bilm_is_the_same_to_the_bit_after_it_was_written_and_read(
    tmp_path: Path, shape: dict
) -> None:
    bilm = make_bilm(*random_files(tmp_path / "first", **shape))

    bilm.to_files(tmp_path / "second")

    again = make_bilm(tmp_path / "second/options.json", tmp_path / "second/weights.hdf5")
    assert replace(again.options, state=None) == bilm.options
    assert_same_state(again, bilm)


@pytest.mark.parametrize("shape", SHAPES)
def test_allennlp_reads_the_files_that_we_write(tmp_path: Path, shape: dict) -> None:
    options = make_options(**shape)
    # AllenNLP needs these keys, which bilm-tf may leave out.
    del options["lstm"]["cell_clip"], options["lstm"]["proj_clip"]
    options["char_cnn"]["n_characters"] = 261
    files = write_files(tmp_path / "first", options, random_weights(options))
    bilm = make_bilm(*files, state="reset")

    bilm.to_files(tmp_path / "second")

    theirs = _ElmoBiLm(tmp_path / "second/options.json", tmp_path / "second/weights.hdf5")
    ids = batch_to_ids([["A", "film", "."], ["\u00e9"]])
    torch.testing.assert_close(bilm(ids).layers, upstream_layers(theirs, ids)[0], atol=1e-5, rtol=0)
    written = json.loads((tmp_path / "second/options.json").read_text())
    assert written["char_cnn"]["n_characters"] == 262


def test_weights_of_16_bits_are_written_on_request_and_read(tmp_path: Path) -> None:
    bilm = make_bilm(*FIXTURE_FILES)

    bilm.to_files(tmp_path, dtype="float16")

    files = tmp_path / "options.json", tmp_path / "weights.hdf5"
    exact = read_datasets(FIXTURE_FILES[1])
    for name, array in read_datasets(files[1]).items():
        assert array.dtype == numpy.float16
        numpy.testing.assert_array_equal(array, exact[name].astype("float16"), err_msg=name)

    again = make_bilm(*files)
    assert next(again.parameters()).dtype == torch.float32
    ids = batch_to_ids([["A", "film", "."]])
    torch.testing.assert_close(again(ids).layers, bilm(ids).layers, atol=0.02, rtol=0)


def test_a_bilm_in_float64_reads_and_writes_float32(tmp_path: Path) -> None:
    make_bilm(*FIXTURE_FILES).double().to_files(tmp_path)

    written = read_datasets(tmp_path / "weights.hdf5")
    for name, array in read_datasets(FIXTURE_FILES[1]).items():
        assert array.dtype == written[name].dtype == numpy.float32
        numpy.testing.assert_allclose(written[name], array, atol=1e-7, err_msg=name)


# Writing whole or not at all.


@pytest.mark.parametrize("old", [True, False])
def test_a_crash_while_writing_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    bilm = make_bilm(*FIXTURE_FILES)
    if old:
        bilm.to_files(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 2 * old

    def crash(array: Array) -> Array:
        raise KeyboardInterrupt

    # The biases of the LSTMs are written late, so the crash comes in the middle.
    monkeypatch.setattr(layout, "_BIAS", layout._BIAS._replace(revert=crash))

    with pytest.raises(KeyboardInterrupt):
        make_bilm(*FIXTURE_FILES).to_files(tmp_path)

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# Files that cannot be read.


def refused(folder: Path, arrays: dict[str, Array], **options: Any) -> str:
    """Returns the message of the error, which must name the file."""
    files = write_files(folder, make_options(**options), arrays)
    with pytest.raises(ConfigurationError) as caught:
        make_bilm(*files)
    assert str(files[1]) in str(caught.value)
    return str(caught.value)


def with_padding(table: Array) -> Array:
    return numpy.concatenate([numpy.zeros((1, 4)), table])


def spoiled(value: float) -> Callable[[Array], Array]:
    def spoil(array: Array) -> Array:
        array.flat[-1] = value
        return array

    return spoil


# A dataset, what is done to it (by default it is left out), and the words of the message.
REFUSED_DATASETS: list[tuple[str, Callable[[Array], Array] | None, str]] = [
    *((name, None, f"has no {name}, which the options ask for") for name in shapes(make_options())),
    ("char_embed", with_padding, "char_embed has shape (262, 4), but the options ask for (261, 4)"),
    *(
        (name, spoiled(value), f"{name} holds a value that is not a finite number")
        for name in ("char_embed", "CNN_high_1/b_carry", f"{CELL}/W_0")
        for value in (numpy.nan, numpy.inf, -numpy.inf)
    ),
]


@pytest.mark.parametrize(("name", "to", "words"), REFUSED_DATASETS)
def test_a_dataset_that_is_missing_or_wrong_is_named(
    name: str, to: Callable[[Array], Array] | None, words: str, tmp_path: Path
) -> None:
    arrays = random_weights(make_options())
    array = arrays.pop(name)
    if to is not None:
        arrays[name] = to(array)

    assert words in refused(tmp_path, arrays)


ASKED, NOT_ASKED = "which the options ask for", "which the options do not ask for"
SHAPE = "has shape {}, but the options ask for {}"
CELLS = "RNN_0/RNN/MultiRNNCell/Cell"
REFUSED_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"n_layers": 3}, f"has no {CELLS}2/LSTMCell/W_0, {ASKED}"),
    ({"n_layers": 1}, f"has {CELLS}1/LSTMCell/B, {NOT_ASKED}"),
    ({"n_highway": 1}, f"has CNN_high_1/W_carry, {NOT_ASKED}"),
    ({"filters": [[1, 4], [2, 11]]}, f"has CNN/W_cnn_2, {NOT_ASKED}"),
    ({"embedding": {"dim": 5}}, "char_embed " + SHAPE.format((261, 4), (261, 5))),
    (
        {"filters": [[1, 4], [5, 6], [3, 5]]},
        "CNN/W_cnn_1 " + SHAPE.format((1, 2, 4, 6), (1, 5, 4, 6)),
    ),
    ({"projection_dim": 7}, "CNN_proj/W_proj " + SHAPE.format((15, 6), (15, 7))),
    ({"dim": 10}, f"{CELLS}0/LSTMCell/W_0 " + SHAPE.format((12, 36), (12, 40))),
]


@pytest.mark.parametrize(("options", "words"), REFUSED_OPTIONS)
def test_options_that_do_not_fit_the_file_are_refused(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    assert words in refused(tmp_path, random_weights(make_options()), **options)


def test_a_group_instead_of_a_dataset_is_refused(tmp_path: Path) -> None:
    files = random_files(tmp_path)
    with h5py.File(files[1], "a") as file:
        del file["char_embed"]
        file.create_group("char_embed")

    with pytest.raises(ConfigurationError, match="char_embed"):
        make_bilm(*files)


@pytest.mark.parametrize("size", [0, 7, 1000, 100_000, None])
def test_a_file_that_is_cut_or_of_another_kind_is_refused(tmp_path: Path, size: int | None) -> None:
    path = tmp_path / "weights.hdf5"
    if size is None:
        torch.save(make_bilm(*FIXTURE_FILES).state_dict(), path)
    else:
        path.write_bytes(FIXTURE_FILES[1].read_bytes()[:size])

    with pytest.raises(ConfigurationError, match="weights.hdf5 cannot be read as HDF5; it may be"):
        make_bilm(FIXTURE_FILES[0], path)
