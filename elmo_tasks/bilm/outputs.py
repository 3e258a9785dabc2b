from typing import NamedTuple

import torch


class BiLmOutput(NamedTuple):
    """
    # Parameters

    layers : `torch.Tensor`
        Shape (batch, num_layers + 1, length, 2 * projection_dim): h_{k,0} to h_{k,L}, without
        those of the sentence boundaries, zeros at padding. Layer 0 is x^LM twice.
    mask : `torch.BoolTensor`
        Shape (batch, length): true where there is a token.
    """

    layers: torch.Tensor
    mask: torch.Tensor


class Prediction(NamedTuple):
    """
    # Parameters

    output : `torch.Tensor`
        Shape (tokens, projection_dim): the top layer of one direction, packed.
    following : `torch.LongTensor`
        Shape (tokens,): where in the flattened (batch, length) the token that each predicts lies.
    """

    output: torch.Tensor
    following: torch.Tensor
