from collections.abc import Sequence

import torch
from allennlp.modules import Seq2SeqEncoder
from torch.nn.functional import pad


def encode_together(
    encoder: Seq2SeqEncoder, texts: Sequence[torch.Tensor], masks: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """
    Runs an encoder once for several texts of each instance, as one batch.

    # Parameters

    encoder: Its output for a text must not depend on other texts of the batch.
    texts: Shapes (batch, length, dim), each with its own length.
    masks: Shapes (batch, length).

    # Returns

    Shapes (batch, length, output dim).
    """
    lengths = [mask.size(1) for mask in masks]
    missing = [max(lengths) - length for length in lengths]
    h = encoder(
        torch.cat([pad(text, (0, 0, 0, width)) for text, width in zip(texts, missing)]),
        torch.cat([pad(mask, (0, width)) for mask, width in zip(masks, missing)]),
    )
    return [part[:, :length] for part, length in zip(h.chunk(len(texts)), lengths)]
