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
    targets : `torch.LongTensor`
        Shape (tokens,): the index of each output's target in the word ids of the batch, flattened
        from shape (batch, length). Sentences have the ids of their tokens. Windows have the ids of
        their targets, each at the index of the token that was read.
    """

    output: torch.Tensor
    targets: torch.Tensor
