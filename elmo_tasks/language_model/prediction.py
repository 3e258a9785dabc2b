from typing import NamedTuple

import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.bidirectional_lstm import read_direction
from elmo_tasks.bilm.state import LstmState
from elmo_tasks.kernels.packing import Packing
from elmo_tasks.kernels.threads import for_each


class Prediction(NamedTuple):
    """
    The outputs of one direction of a biLM, and the token that each output predicts.

    # Parameters

    output: Shape (tokens, projection_dim): the top layer of the direction, packed (see `Packing`).
    targets (`torch.LongTensor`): Shape (tokens,): for each output, the index of its target in the
        word ids of the batch, flattened from shape (batch, length). The word ids of windows are
        their `targets`.
    """

    output: torch.Tensor
    targets: torch.Tensor


def predict(
    bilm: BiLm,
    char_ids: torch.Tensor,
    backward_char_ids: torch.Tensor | None = None,
    train: bool = True,
    start: LstmState | None = None,
) -> tuple[list[Prediction], LstmState]:
    """
    Reads a batch with both directions of a biLM. Each output predicts a token.

    # Parameters

    char_ids (`torch.LongTensor`): Shape (batch, length, 50); the last size may differ (see
        `BiLm.fitted`). Sentences with both boundaries, for both directions. With
        `backward_char_ids`, windows of a running text, for the forward direction alone.
    backward_char_ids (`torch.LongTensor`): Windows for the backward direction, of a text in which
        each sentence is reversed. Each row has as many tokens as in `char_ids`.
    train: Whether gradients reach the biLM.
    start: The state that each row starts from. By default, the biLM's own state is used, and is
        updated if the biLM carries it.

    # Returns

    The predictions of both directions, and the state in which each row ended.
    """
    windows, is_own = backward_char_ids is not None, start is None
    char_ids = bilm.fitted(char_ids)
    if start is None:
        start = bilm.state.before(len(char_ids), bilm.like)
    with torch.set_grad_enabled(train and torch.is_grad_enabled()):
        lengths = (char_ids > 0).any(dim=-1).sum(dim=1)
        # A direction does not read the last boundary of a sentence.
        packing = Packing.of(lengths if windows else lengths - 1, char_ids.size(1))
        forward, backward = packing.forward_index, packing.backward_index
        last = bilm.state.zeros(len(char_ids), bilm.like)
        with bilm.two_at_once(len(char_ids)) as at_once:
            tokens = bilm.token_vectors(char_ids, at_once)
            if backward_char_ids is not None:
                backward_tokens = bilm.token_vectors(bilm.fitted(backward_char_ids), at_once)
                inputs = [tokens.at(forward), backward_tokens.at(forward)]
                targets = [forward, forward]
            else:
                inputs = [tokens.at(forward), tokens.at(backward + 1)]
                targets = [forward + 1, backward]

            def read(d: int) -> torch.Tensor:
                return read_direction(bilm.stacks, d, inputs[d], packing, start, last)[-1]

            tops = for_each(read, (0, 1), at_once)
    if is_own:
        bilm.state.after(last)
    return [Prediction(*direction) for direction in zip(tops, targets)], last
