from typing import NamedTuple

import torch


class BiLmOutput(NamedTuple):
    """
    Holds the layers of a batch of sentences.

    # Parameters

    layers : `torch.Tensor`
        Shape (batch, num_layers + 1, length, 2 * projection_dim): h_{k,0} to h_{k,L}, without
        the sentence boundaries, zeros at padding. Layer 0 is x^LM, twice side by side.
    mask : `torch.BoolTensor`
        Shape (batch, length): true at tokens.
    """

    layers: torch.Tensor
    mask: torch.Tensor


class Prediction(NamedTuple):
    """
    Holds what a language model needs from one direction of the biLM.

    # Parameters

    output : `torch.Tensor`
        Shape (tokens, projection_dim): the top layer of one direction, packed.
    following : `torch.LongTensor`
        Shape (tokens,): the index, in the flattened (batch, length), of the token that each output
        predicts.
    """

    output: torch.Tensor
    following: torch.Tensor
