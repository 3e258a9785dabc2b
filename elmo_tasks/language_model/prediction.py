from typing import NamedTuple

import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.bidirectional_lstm import read_direction
from elmo_tasks.bilm.state import LstmState
from elmo_tasks.kernels.packing import Packing


class Prediction(NamedTuple):
    """
    Holds what a language model needs from one direction of the biLM.

    # Parameters

    output: Shape (tokens, projection_dim): the top layer of one direction, packed.
    targets (`torch.LongTensor`): Shape (tokens,): for each output, the index of its target in the
        batch's word ids, flattened from shape (batch, length). In sentences, the id at a token is
        its own; in windows, that of its target.
    """

    output: torch.Tensor
    targets: torch.Tensor


def predict(
    bilm: BiLm,
    char_ids: torch.Tensor,
    backward_char_ids: torch.Tensor | None = None,
    train: bool = True,
) -> list[Prediction]:
    """Returns what `predict_from` does from the biLM's own state, which keeps the last state."""
    start = bilm.state.before(len(char_ids), bilm.like)
    predictions, last = predict_from(bilm, start, char_ids, backward_char_ids, train)
    bilm.state.after(last)
    return predictions


def predict_from(
    bilm: BiLm,
    start: LstmState,
    char_ids: torch.Tensor,
    backward_char_ids: torch.Tensor | None = None,
    train: bool = True,
) -> tuple[list[Prediction], LstmState]:
    """
    Computes what a language model needs from each direction: the top layer at every token that the
    direction reads, and the index of that token's target.

    # Parameters

    start: The state that each row starts from.
    char_ids (`torch.LongTensor`): Shape (batch, length, 50). Sentences with both boundaries, which
        both directions read. If `backward_char_ids` is given, these are windows of a running text,
        which only the forward direction reads.
    backward_char_ids (`torch.LongTensor`): Such windows for the backward direction, of a text in
        which each sentence is reversed. They have the same shape, and as many tokens in each row.
    train (default `True`): Whether gradients reach the biLM.

    # Returns

    The predictions of the forward and of the backward direction, and the state in which each row
        ended.
    """
    windows = backward_char_ids is not None
    with torch.set_grad_enabled(train and torch.is_grad_enabled()):
        lengths = (char_ids > 0).any(dim=-1).sum(dim=1)
        # A direction does not read the last boundary of a sentence.
        packing = Packing.of(lengths if windows else lengths - 1, char_ids.size(1))
        tokens = bilm.token_vectors(char_ids)
        forward, backward = packing.forward_index, packing.backward_index
        last = bilm.state.zeros(len(char_ids), bilm.like)
        ahead = read_direction(bilm.stacks, 0, tokens.at(forward), packing, start, last)[-1]
        if backward_char_ids is not None:
            tokens, index = bilm.token_vectors(backward_char_ids), forward
            targets = [forward, forward]
        else:
            index, targets = backward + 1, [forward + 1, backward]
        back = read_direction(bilm.stacks, 1, tokens.at(index), packing, start, last)[-1]
    return [Prediction(ahead, targets[0]), Prediction(back, targets[1])], last
