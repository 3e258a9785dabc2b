"""Tests what the layers of a sentence depend on, and the states that a biLM starts from."""

import copy
import functools
import io
import json
from pathlib import Path

import numpy
import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.bilm.state import CarryState, SnapshotState
from scripts.make_fixture_bilm import random_bilm
from tests.helpers.bilm_examples import SENTENCE, WORDS, ids_of, sentences
from tests.helpers.reference_bilm import (
    FIXTURE_FILES,
    ReferenceBiLm,
    assert_equals_upstream,
    make_options,
    random_files,
)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(WORDS)
batches = st.lists(st.lists(words, max_size=6), min_size=1, max_size=5)
STARTED_ANEW = pytest.mark.parametrize("state", ["reset", "snapshot"])


@functools.cache
def fixture_bilm(state: str) -> BiLm:
    return make_bilm(*FIXTURE_FILES, state=state)


@STARTED_ANEW
@given(batch=batches)
def test_a_sentence_has_the_same_layers_alone(state: str, batch: list[list[str]]) -> None:
    layers = fixture_bilm(state)(ids_of(batch)).layers

    for row, sentence in zip(layers, batch, strict=True):
        alone = fixture_bilm(state)(ids_of([sentence])).layers[0]
        torch.testing.assert_close(row[:, : len(sentence)], alone, atol=1e-5, rtol=0)


@STARTED_ANEW
@given(batch=batches, data=st.data())
def test_a_sentence_has_the_same_layers_in_any_order(
    state: str, batch: list[list[str]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(batch))))
    ids = ids_of(batch)

    layers, mask = fixture_bilm(state)(ids)
    permuted_layers, permuted_mask = fixture_bilm(state)(ids[order])

    torch.testing.assert_close(permuted_layers, layers[order], atol=1e-5, rtol=0)
    assert torch.equal(permuted_mask, mask[order])


@STARTED_ANEW
@given(batch=batches, more_padding=st.integers(1, 4))
def test_a_sentence_has_the_same_layers_with_more_padding(
    state: str, batch: list[list[str]], more_padding: int
) -> None:
    layers, mask = fixture_bilm(state)(ids_of(batch))
    length = mask.size(1)

    padded_layers, padded_mask = fixture_bilm(state)(ids_of(batch, more_padding))

    torch.testing.assert_close(padded_layers[:, :, :length], layers, atol=1e-5, rtol=0)
    assert not padded_layers[:, :, length:].any() and not padded_mask[:, length:].any()


@given(batch=batches)
def test_the_mask_is_true_at_tokens_and_layers_are_zero_elsewhere(batch: list[list[str]]) -> None:
    layers, mask = fixture_bilm("snapshot")(ids_of(batch))

    for row, sentence in enumerate(batch):
        assert mask[row].tolist() == [index < len(sentence) for index in range(mask.size(1))]
    assert not layers.transpose(1, 2)[~mask].any()
    assert layers.transpose(1, 2)[mask].any(dim=-1).all()


@given(batch=batches)
def test_layer_0_has_two_equal_halves_that_depend_on_the_token_alone(
    batch: list[list[str]],
) -> None:
    layers, _ = fixture_bilm("snapshot")(ids_of(batch))

    assert torch.equal(layers[:, 0, :, :16], layers[:, 0, :, 16:])
    for row, sentence in enumerate(batch):
        for index, word in enumerate(sentence):
            alone = fixture_bilm("reset")(ids_of([[word]])).layers[0, 0, 0]
            torch.testing.assert_close(layers[row, 0, index], alone, atol=1e-5, rtol=0)


@STARTED_ANEW
def test_a_sentence_has_the_same_layers_after_other_batches(state: str) -> None:
    bilm = make_bilm(*FIXTURE_FILES, state=state)
    before = bilm(ids_of([SENTENCE])).layers

    bilm(ids_of(sentences(4, 0, 9)))

    assert torch.equal(bilm(ids_of([SENTENCE])).layers, before)


def test_a_sentence_has_other_layers_after_other_batches_when_carried() -> None:
    bilm = make_bilm(*FIXTURE_FILES, state="carry")
    before = bilm(ids_of([SENTENCE])).layers

    bilm(ids_of(sentences(4, 0, 9)))
    after = bilm(ids_of([SENTENCE])).layers

    assert torch.equal(after[:, 0], before[:, 0])
    assert not torch.allclose(after[:, 1:], before[:, 1:], atol=1e-3)


# Start states, and what is saved of them.


def test_the_state_is_by_default_that_of_the_options_or_else_a_snapshot(
    tmp_path: Path,
) -> None:
    files = random_files(tmp_path)
    assert make_bilm(*files).state_name == "snapshot"
    assert make_bilm(*files, requires_grad=True).state_name == "reset"

    for state in ("reset", "snapshot", "carry"):
        files[0].write_text(json.dumps({**make_options(), "state": state}))
        assert make_bilm(*files).state_name == state
        assert make_bilm(*files, state="reset").state_name == "reset"


def test_allennlp_ignores_the_state_in_our_options(tmp_path: Path) -> None:
    random_bilm().to_files(tmp_path)
    files = tmp_path / "options.json", tmp_path / "weights.hdf5"
    assert json.loads(files[0].read_text())["state"] == "snapshot"

    bilm, theirs = make_bilm(*files, state="carry"), _ElmoBiLm(*files)

    for lengths in [(3,), (5, 2)]:
        assert_equals_upstream(bilm, theirs, ids_of(sentences(*lengths)))


def test_a_new_snapshot_is_taken_with_the_present_weights(tmp_path: Path) -> None:
    bilm = make_bilm(*random_files(tmp_path))
    files = random_files(tmp_path / "other", seed=1)
    weights = make_bilm(*files, state="reset").state_dict()
    bilm.load_state_dict(weights, strict=False)

    bilm.take_snapshot()

    reference = ReferenceBiLm(*files)
    expected, _ = reference.layers(SENTENCE, reference.snapshot())
    numpy.testing.assert_allclose(bilm(ids_of([SENTENCE])).layers[0], expected, atol=1e-5)


def test_a_snapshot_is_not_changed_by_the_sentences_that_start_from_it() -> None:
    bilm = make_bilm(*FIXTURE_FILES)
    assert isinstance(bilm.state, SnapshotState)
    h, c = bilm.state.h.clone(), bilm.state.c.clone()

    bilm(ids_of(sentences(4, 9)))

    assert torch.equal(bilm.state.h, h) and torch.equal(bilm.state.c, c)


@STARTED_ANEW
def test_layers_are_the_same_after_save_and_load(state: str) -> None:
    bilm = make_bilm(*FIXTURE_FILES, state=state)
    buffer = io.BytesIO()
    torch.save(bilm.state_dict(), buffer)
    buffer.seek(0)

    loaded = make_bilm(json.loads(FIXTURE_FILES[0].read_text()), state=state)
    loaded.load_state_dict(torch.load(buffer, weights_only=True))

    ids = ids_of([SENTENCE, *sentences(4, 0)])
    assert torch.equal(loaded(ids).layers, bilm(ids).layers)


def test_a_copy_carries_a_state_of_its_own() -> None:
    bilm = make_bilm(*FIXTURE_FILES, state="carry")
    copied = copy.deepcopy(bilm)
    first = bilm(ids_of([SENTENCE])).layers

    bilm(ids_of([SENTENCE]))

    assert torch.equal(copied(ids_of([SENTENCE])).layers, first)


def test_a_carried_state_is_forgotten_on_reset() -> None:
    bilm = make_bilm(*FIXTURE_FILES, state="carry")
    assert isinstance(bilm.state, CarryState)
    first = bilm(ids_of([SENTENCE])).layers

    bilm.state.reset()

    assert torch.equal(bilm(ids_of([SENTENCE])).layers, first)


def test_a_snapshot_taken_under_autocast_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without laid-out weights, autocast changes the dtype of products, as it does on a GPU.
    monkeypatch.setattr("elmo_tasks.kernels.frozen_product.has_onednn", lambda dtype: False)
    expected = fixture_bilm("snapshot").state.h

    with torch.autocast("cpu", torch.bfloat16):
        taken = fixture_bilm("snapshot").state.h

    torch.testing.assert_close(taken, expected, rtol=0, atol=0)
