from typing import NamedTuple

import torch


class BiLmOutput(NamedTuple):
    """
    # Parameters

    layers : `torch.Tensor`
        Shape (batch, num_layers + 1, length, 2 * projection_dim): h_{k,0} to h_{k,L}, without
        the sentence boundaries, zeros at padding. Layer 0 has x^LM twice.
    mask : `torch.BoolTensor`
        Shape (batch, length): true at tokens.
    """

    layers: torch.Tensor
    mask: torch.Tensor


class Prediction(NamedTuple):
    """
    # Parameters

    output : `torch.Tensor`
        Shape (tokens, projection_dim): the top layer of one direction, packed.
    targets : `torch.LongTensor`
        Shape (tokens,): the index, in the flattened (batch, length), of each output's target. In
        sentences, the target is the next token that the direction meets. In windows, whose targets
        are given beside them, the index is that of the token that was read.
    """

    output: torch.Tensor
    targets: torch.Tensor
