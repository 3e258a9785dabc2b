"""Tests what a language model gets from the biLM: the top layer and the targets."""

import pytest
import torch

from elmo_tasks.language_model.prediction import predict
from tests.helpers.bilm_examples import ids_of, sentences
from tests.helpers.stored_bilms import fixture_bilm

DIM = 16


def test_each_direction_of_a_sentence_predicts_the_token_after_those_that_it_has_read() -> None:
    bilm, batch = fixture_bilm(), sentences(3, 1, 5)
    ids = ids_of([["<S>", *sentence, "</S>"] for sentence in batch])
    top, length = bilm(ids_of(batch)).layers[:, -1], ids.size(1)

    ahead, back = predict(bilm, ids)

    for prediction, step, columns, targets in (
        # The forward direction predicts the words and the end, the other one the words and the
        # begin.
        (ahead, -1, slice(0, DIM), [range(1, len(sentence) + 2) for sentence in batch]),
        (back, +1, slice(DIM, 2 * DIM), [range(0, len(sentence) + 1) for sentence in batch]),
    ):
        expected = [row * length + index for row, few in enumerate(targets) for index in few]
        assert sorted(prediction.targets.tolist()) == expected
        for output, target in zip(prediction.output, prediction.targets.tolist(), strict=True):
            row, read = target // length, target % length + step
            # The layers have no vector of the boundaries, where a direction begins.
            if 1 <= read <= len(batch[row]):
                torch.testing.assert_close(output, top[row, read - 1, columns])


def test_each_direction_reads_windows_of_its_own_to_their_end() -> None:
    bilm = fixture_bilm()
    ids, backward_ids = ids_of(sentences(4, 4)), ids_of([list("abcd"), list("efgh")])

    ahead, back = predict(bilm, ids, backward_ids)

    # A window is read like a sentence whose last token in the direction of reading is only
    # predicted.
    other = ids_of([["x"], ["x"]])
    expected = predict(bilm, torch.cat([ids, other], dim=1))[0]
    torch.testing.assert_close(ahead.output, expected.output)
    expected = predict(bilm, torch.cat([other, backward_ids.flip(1)], dim=1))[1]
    torch.testing.assert_close(back.output, expected.output)
    # The targets of a window are at the indices of the tokens that are read.
    for prediction in (ahead, back):
        assert prediction.targets.tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


def test_directions_that_are_read_at_once_have_the_same_outputs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = ids_of(sentences(3, 1, 5))
    found = {}
    for divides in (True, False):
        monkeypatch.setattr("elmo_tasks.common.threads._divides", divides)
        with torch.no_grad():
            found[divides] = predict(fixture_bilm(), ids)

    for at_once, in_turn in zip(found[True], found[False], strict=True):
        torch.testing.assert_close(at_once, in_turn)
