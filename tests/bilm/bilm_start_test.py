"""Tests what the layers of a sentence depend on, and the states that a biLM starts from."""

import functools
import json
from pathlib import Path

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.bilm import BiLm, make_bilm
from tests.helpers.bilm_examples import SENTENCE, WORDS, ids_of
from tests.helpers.reference_bilm import FIXTURE_FILES, ReferenceBiLm, make_options, random_files

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(WORDS)
batches = st.lists(st.lists(words, max_size=6), min_size=1, max_size=5)
STARTED_ANEW = pytest.mark.parametrize("state", ["reset", "snapshot"])


@functools.cache
def fixture_bilm(state: str) -> BiLm:
    return make_bilm(*FIXTURE_FILES, state=state)


@STARTED_ANEW
@given(batch=batches, more_padding=st.integers(0, 4))
def test_a_sentence_has_the_same_layers_alone_and_in_any_batch_with_zeros_at_padding(
    state: str, batch: list[list[str]], more_padding: int
) -> None:
    layers, mask = fixture_bilm(state)(ids_of(batch, more_padding))

    for row, found, sentence in zip(layers, mask, batch, strict=True):
        alone = fixture_bilm(state)(ids_of([sentence])).layers[0]
        length = len(sentence)
        torch.testing.assert_close(row[:, :length], alone, atol=1e-5, rtol=0)
        assert not row[:, length:].any() and row[:, :length].any(dim=-1).all()
        assert found.tolist() == [index < length for index in range(len(found))]


# Start states, and what is saved of them.


def test_the_state_is_by_default_that_of_the_options_or_else_a_snapshot(tmp_path: Path) -> None:
    files = random_files(tmp_path)
    assert make_bilm(*files).state_name == "snapshot"
    assert make_bilm(*files, requires_grad=True).state_name == "reset"

    for state in ("reset", "snapshot", "carry"):
        files[0].write_text(json.dumps({**make_options(), "state": state}))
        assert make_bilm(*files).state_name == state
        assert make_bilm(*files, state="reset").state_name == "reset"


def test_a_new_snapshot_is_taken_with_the_present_weights(tmp_path: Path) -> None:
    bilm = make_bilm(*random_files(tmp_path))
    files = random_files(tmp_path / "other", seed=1)
    weights = make_bilm(*files, state="reset").state_dict()
    bilm.load_state_dict(weights, strict=False)

    bilm.take_snapshot()

    reference = ReferenceBiLm(*files)
    expected, _ = reference.layers(SENTENCE, reference.snapshot())
    numpy.testing.assert_allclose(bilm(ids_of([SENTENCE])).layers[0], expected, atol=1e-5)


def test_a_snapshot_taken_under_autocast_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without laid-out weights, autocast changes the dtype of products, as it does on a GPU.
    monkeypatch.setattr("elmo_tasks.kernels.frozen_product.has_onednn", lambda dtype: False)
    expected = fixture_bilm("snapshot").state.h

    with torch.autocast("cpu", torch.bfloat16):
        taken = fixture_bilm("snapshot").state.h

    torch.testing.assert_close(taken, expected, rtol=0, atol=0)
