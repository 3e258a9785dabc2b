import json
import logging
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm

from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.bilm.frozen_checkpoint import leave_out_weights
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.store import LayerStore
from scripts.make_fixture_bilm import random_bilm
from tests.helpers.bilm_examples import SENTENCE, SHAPES, WORDS, ids_of, sentences
from tests.helpers.reference_bilm import (
    FIXTURE_FILES,
    ReferenceBiLm,
    assert_equals_upstream,
    make_options,
    random_files,
    read_datasets,
)
from tests.helpers.stored_bilms import change, fixture_bilm

IN_EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))


@IN_EVERY_SHAPE
def test_layers_equal_allennlps_over_batches_that_grow_and_shrink_if_the_state_is_carried(
    tmp_path: Path, shape: dict
) -> None:
    files = random_files(tmp_path, **shape)
    bilm, theirs = make_bilm(*files, state="carry"), _ElmoBiLm(*files)

    for lengths in [(3, 5), (2, 0, 9, 1), (4,), (0, 0, 3), (1, 2, 3, 4, 5, 6), (7, 0), (8, 1, 2)]:
        assert_equals_upstream(bilm, theirs, ids_of(sentences(*lengths)))


def test_bounds_that_bite_are_reached_and_kept(tmp_path: Path) -> None:
    shape = SHAPES["bounds_that_bite"]
    free = make_bilm(*random_files(tmp_path / "free", **{**shape, "proj_clip": None}))
    bounded = make_bilm(*random_files(tmp_path / "bounded", **shape))
    ids = ids_of([SENTENCE])

    assert free(ids).layers[:, 1].abs().max() > 0.2
    assert bounded(ids).layers[:, 1].abs().max().item() == pytest.approx(0.2)


@IN_EVERY_SHAPE
def test_layers_of_every_kind_of_word_equal_allennlps(tmp_path: Path, shape: dict) -> None:
    files = random_files(tmp_path, **shape)
    bilm, theirs = make_bilm(*files, state="reset"), _ElmoBiLm(*files)

    assert_equals_upstream(bilm, theirs, ids_of([WORDS, WORDS[::-1], [""]]))


@IN_EVERY_SHAPE
@pytest.mark.parametrize("state", ["reset", "snapshot"])
def test_layers_equal_a_plain_numpy_bilm(tmp_path: Path, shape: dict, state: str) -> None:
    files = random_files(tmp_path, **shape)
    bilm, reference = make_bilm(*files, state=state), ReferenceBiLm(*files)
    batch = [SENTENCE, WORDS[44:54], [""], ["\u00e9" * 24, "y" * 300]]

    layers = bilm(ids_of(batch)).layers

    start = reference.snapshot() if state == "snapshot" else reference.zeros()
    for row, sentence in enumerate(batch):
        expected, _ = reference.layers(sentence, start)
        numpy.testing.assert_allclose(layers[row, :, : len(sentence)], expected, atol=1e-5)


def test_layers_without_skip_connections_equal_a_plain_numpy_bilm(tmp_path: Path) -> None:
    files = random_files(tmp_path, n_layers=3, use_skip_connections=False)

    layers = make_bilm(*files, state="reset")(ids_of([SENTENCE])).layers

    expected, _ = ReferenceBiLm(*files).layers(SENTENCE)
    numpy.testing.assert_allclose(layers[0], expected, atol=1e-5)


def test_layers_with_a_carried_state_equal_a_plain_numpy_bilm(tmp_path: Path) -> None:
    files = random_files(tmp_path)
    bilm, reference = make_bilm(*files, state="carry"), ReferenceBiLm(*files)
    state = reference.zeros()

    for sentence in sentences(3, 1, 8):
        layers = bilm(ids_of([sentence])).layers
        expected, state = reference.layers(sentence, state)
        numpy.testing.assert_allclose(layers[0], expected, atol=1e-5)


def test_a_sentence_of_1000_tokens_gives_allennlps_layers() -> None:
    bilm, theirs = make_bilm(*FIXTURE_FILES, state="reset"), _ElmoBiLm(*FIXTURE_FILES)

    layers = assert_equals_upstream(bilm, theirs, ids_of(sentences(1000, 3)))

    assert layers.shape == (2, 3, 1000, 32)


def test_words_that_differ_only_after_48_bytes_have_the_same_layers() -> None:
    bilm = make_bilm(*FIXTURE_FILES, state="reset")
    batch = [["x" * 48], ["x" * 49], ["x" * 300], ["x" * 47]]

    layers = bilm(ids_of(batch)).layers

    assert torch.equal(layers[0], layers[1]) and torch.equal(layers[0], layers[2])
    assert not torch.allclose(layers[0], layers[3], atol=1e-3)


@pytest.mark.parametrize("state", ["reset", "snapshot", "carry"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (2, 0), (0, 3)])
def test_a_batch_of_padding_alone_gives_zeros(state: str, shape: tuple[int, int]) -> None:
    bilm = make_bilm(*FIXTURE_FILES, state=state)

    layers, mask = bilm(torch.zeros(*shape, 50, dtype=torch.long))

    assert layers.shape == (shape[0], 3, shape[1], 32)
    assert not layers.any() and mask.shape == shape and not mask.any()


# Construction and errors.


def test_a_bilm_keeps_options_of_its_own(tmp_path: Path) -> None:
    options = make_options()

    bilm = make_bilm(options)

    assert options == make_options()
    options["lstm"]["n_layers"] = 7
    bilm.to_files(tmp_path)
    assert json.loads((tmp_path / "options.json").read_text())["lstm"]["n_layers"] == 2


@pytest.mark.parametrize("copied", [False, True])
def test_a_bilm_without_weights_warns_once(copied: bool, caplog: pytest.LogCaptureFixture) -> None:
    bilm = make_bilm(make_options())
    bilm = FrozenBiLm.of(bilm) if copied else bilm

    with caplog.at_level(logging.WARNING):
        bilm(ids_of([SENTENCE]))
        bilm(ids_of([SENTENCE]))

    warnings = [record.message for record in caplog.records if "random weights" in record.message]
    assert len(warnings) == 1


def test_a_bilm_with_weights_does_not_warn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = random_files(tmp_path)
    loaded = torch.nn.Sequential(make_bilm(make_options()))
    loaded.load_state_dict(torch.nn.Sequential(make_bilm(*files)).state_dict())
    bilms = [make_bilm(*files), make_bilm(make_options(), requires_grad=True), loaded]

    with caplog.at_level(logging.WARNING):
        for bilm in bilms:
            bilm(ids_of([SENTENCE]))

    assert not caplog.records


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 49), (2, 4, 3, 50)])
def test_char_ids_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    bilm = make_bilm(*FIXTURE_FILES)

    with pytest.raises(ConfigurationError, match=r"\(batch, length, 50\), but have .*elmo_char"):
        bilm(torch.ones(shape, dtype=torch.long))


def test_a_snapshot_of_a_bilm_that_trains_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="state must be reset or carry"):
        make_bilm(*FIXTURE_FILES, state="snapshot", requires_grad=True)


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="one of reset, snapshot, carry, not 'warm'"):
        make_bilm(*FIXTURE_FILES, state="warm")


def test_options_that_are_missing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no file of options .*nowhere.json"):
        make_bilm(tmp_path / "nowhere.json", FIXTURE_FILES[1])


@pytest.mark.parametrize("content", [b"{", b"", b"\xff", b"[1, 2]", b"3"])
def test_options_that_are_not_a_json_object_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "options.json"
    path.write_bytes(content)

    with pytest.raises(ConfigurationError, match="options.json is not (JSON|a JSON object)"):
        make_bilm(path, FIXTURE_FILES[1])


def test_tokens_of_fewer_characters_are_read_too(tmp_path: Path) -> None:
    files = random_files(tmp_path, max_characters_per_token=20)
    bilm = make_bilm(*files)
    ids = ids_of([SENTENCE])[:, :, :20]

    layers = bilm(ids).layers

    reference = ReferenceBiLm(*files)
    expected, _ = reference.layers(SENTENCE, reference.snapshot())
    numpy.testing.assert_allclose(layers[0], expected, atol=1e-5)


def test_the_fixture_is_what_its_script_makes(tmp_path: Path) -> None:
    random_bilm().to_files(tmp_path)

    assert (tmp_path / "options.json").read_bytes() == FIXTURE_FILES[0].read_bytes()
    made, kept = read_datasets(tmp_path / "weights.hdf5"), read_datasets(FIXTURE_FILES[1])
    assert made.keys() == kept.keys()
    for name, values in made.items():
        numpy.testing.assert_array_equal(values, kept[name], err_msg=name)


def test_the_fingerprint_is_that_of_the_weights_and_not_of_the_object(tmp_path: Path) -> None:
    bilm = fixture_bilm()
    loaded = make_bilm(json.loads(FIXTURE_FILES[0].read_text()))
    loaded.load_state_dict(bilm.state_dict())
    bilm.to_files(tmp_path)
    read = make_bilm(tmp_path / "options.json", tmp_path / "weights.hdf5")

    assert bilm.fingerprint() == fixture_bilm().fingerprint()
    assert loaded.fingerprint() == read.fingerprint() == bilm.fingerprint()
    assert change(bilm).fingerprint() != loaded.fingerprint()


def test_a_frozen_copy_remembers_as_many_tokens() -> None:
    assert FrozenBiLm.of(make_bilm(make_options(), cached_tokens=0)).cached_tokens == 0
    assert FrozenBiLm.of(make_bilm(make_options(), requires_grad=True)).cached_tokens == 50_000


def test_whole_numbers_have_the_same_fingerprint_with_and_without_a_point() -> None:
    fingerprints = set()
    for cell_clip in (3, 3.0):
        bilm = fixture_bilm()
        options = bilm.raw_options
        options["lstm"]["cell_clip"] = cell_clip
        other = make_bilm(options, state=bilm.state_name)
        other.load_state_dict(bilm.state_dict())
        fingerprints.add(other.fingerprint())

    assert len(fingerprints) == 1


def test_a_state_dict_with_the_fingerprint_of_the_same_weights_is_loaded() -> None:
    bilm, other = fixture_bilm(), fixture_bilm()
    other.state.h.zero_()
    state = leave_out_weights(bilm.state_dict(), "", bilm.weights(), bilm.fingerprint())

    other.load_state_dict(state)

    assert torch.equal(other.state.h, bilm.state.h) and bilm.state.h.any()
    assert other.fingerprint() == bilm.fingerprint()


@pytest.mark.parametrize("strict", [True, False])
def test_a_state_dict_with_the_fingerprint_of_other_weights_is_refused(strict: bool) -> None:
    bilm, other = fixture_bilm(), change(fixture_bilm())
    state = leave_out_weights(bilm.state_dict(), "", bilm.weights(), bilm.fingerprint())

    with pytest.raises(RuntimeError, match="The file .* other weights"):
        other.load_state_dict(state, strict=strict)


def test_a_store_changes_neither_the_layers_nor_the_mask() -> None:
    plain, stored = fixture_bilm(), fixture_bilm(LayerStore(dtype="float32"))
    ids = ids_of(sentences(3, 1, 0))

    for _ in range(2):
        assert torch.equal(stored(ids).mask, plain(ids).mask)
        torch.testing.assert_close(stored(ids).layers, plain(ids).layers)


@pytest.mark.parametrize("cached_tokens", [None, 0])
def test_the_vector_of_a_token_is_computed_once_if_a_cache_is_wanted(
    cached_tokens: int | None,
) -> None:
    settings: dict[str, Any] = {} if cached_tokens is None else {"cached_tokens": cached_tokens}
    bilm = fixture_bilm(**settings)
    computed: list[int] = []
    bilm.char_cnn.register_forward_pre_hook(lambda _, inputs: computed.append(len(inputs[0])))

    for _ in range(2):
        bilm(ids_of([["a", "b", "a"]]))

    # The distinct tokens are the two words and both boundaries, which the snapshot has read too.
    assert sum(computed) == (2 if cached_tokens is None else 8)
