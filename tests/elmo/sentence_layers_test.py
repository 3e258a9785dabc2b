import io
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tqdm import tqdm

import elmo_tasks.elmo.sentence_layers
from elmo_tasks.bilm import BiLm, BiLmOutput, make_bilm
from elmo_tasks.elmo.sentence_layers import SentenceLayers, windows
from tests.helpers.bilm_examples import WORDS, ids_of
from tests.helpers.reference_bilm import FIXTURE_FILES


@pytest.fixture(scope="module")
def bilm() -> BiLm:
    return make_bilm(*FIXTURE_FILES).eval()


@given(
    sentences=st.lists(st.lists(st.sampled_from(WORDS), max_size=9), max_size=8),
    batch_tokens=st.integers(1, 30),
    window_tokens=st.integers(1, 40),
    seed=st.integers(0, 100),
)
def test_layers_equal_those_of_each_sentence_alone_in_any_order_and_batch_size(
    bilm: BiLm, sentences: list[list[str]], batch_tokens: int, window_tokens: int, seed: int
) -> None:
    random.Random(seed).shuffle(sentences)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elmo_tasks.elmo.sentence_layers, "WINDOW_TOKENS", window_tokens)
        layers = list(SentenceLayers(bilm, batch_tokens).of_tokens(sentences))

    assert len(layers) == len(sentences)
    for words, found in zip(sentences, layers):
        assert found.shape == (3, len(words), 32)
        if words:
            expected = bilm(ids_of([words])).layers[0]
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_batches_have_sentences_of_similar_length_and_as_many_tokens_as_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shapes = []
    bilm = make_bilm(*FIXTURE_FILES).eval()
    forward = bilm.forward

    def note(char_ids: torch.Tensor) -> BiLmOutput:
        shapes.append(tuple(char_ids.shape[:2]))
        return forward(char_ids)

    monkeypatch.setattr(bilm, "forward", note)

    lengths = (2, 20, 1, 3, 0, 2, 4, 3)
    monkeypatch.setattr(elmo_tasks.elmo.sentence_layers, "MIN_SENTENCES", 2)
    list(SentenceLayers(bilm, batch_tokens=12)([["a"] * n for n in (*lengths, 30, 50)]))

    # 2 sentences may have 96 tokens.
    assert shapes == [(1, 50), (2, 30), (3, 4), (3, 2)]


def test_groups_of_sentences_end_once_they_have_enough_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elmo_tasks.elmo.sentence_layers, "WINDOW_TOKENS", 5)
    a, b, c, d = ["a"] * 3, ["b"] * 9, ["c"], ["d"] * 2

    # Each sentence counts for one token more than it has.
    assert list(windows([a, c, b, [], d])) == [[a, c], [b], [[], d]]
    assert list(windows([])) == []


def test_a_progress_bar_counts_all_tokens(bilm: BiLm) -> None:
    with tqdm(disable=False, file=io.StringIO()) as progress:
        list(SentenceLayers(bilm)([["a"] * 3, [], ["b"] * 4], progress))

    assert progress.n == 7


def test_a_bilm_that_does_not_vary_is_used_itself(bilm: BiLm) -> None:
    assert SentenceLayers(bilm).bilm is bilm


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_of_a_bilm_that_varies_a_frozen_copy_is_used(state: str) -> None:
    varying = make_bilm(*FIXTURE_FILES, state=state, requires_grad=state == "reset")

    layers = SentenceLayers(varying)

    assert layers.bilm is not varying
    assert not layers.bilm.trains and not layers.bilm.training
    assert layers.bilm.state_name == ("reset" if state == "reset" else "snapshot")
