from typing import NamedTuple

import torch


class BiLmOutput(NamedTuple):
    """
    Holds the layers of a batch of sentences.

    # Parameters

    layers: Shape (batch, num_layers + 1, length, 2 * projection_dim): h_{k,0} to h_{k,L}, without
        the sentence boundaries, zeros at padding. Layer 0 is [x^LM; x^LM].
    mask (`torch.BoolTensor`): Shape (batch, length): true at tokens.
    """

    layers: torch.Tensor
    mask: torch.Tensor
