from typing import NamedTuple

import torch


class Packing(NamedTuple):
    """
    The order in which an LSTM visits the tokens of a batch, as in PyTorch's `PackedSequence`: step
    by step, and in each step the rows that still have a token, the longest row first.

    # Parameters

    rows (`torch.LongTensor`): Shape (batch,): the rows of the batch, longest first.
    batch_sizes: The number of rows with a token, for each step. The sum is the number of tokens.
    forward_index, backward_index (`torch.LongTensor`): Shape (tokens,): the indices of the packed
        tokens in the flattened (batch, length). `forward_index` reads every row from its first
        token on, `backward_index` from its last.
    """

    rows: torch.Tensor
    batch_sizes: list[int]
    forward_index: torch.Tensor
    backward_index: torch.Tensor

    @classmethod
    def of(cls, lengths: torch.Tensor, width: int | None = None) -> "Packing":
        """
        Packs rows. `lengths` has shape (batch,). `width` is the length of a padded row, by default
        the greatest of `lengths`.
        """
        lengths, rows = lengths.sort(descending=True, stable=True)
        longest = int(lengths[0]) if len(lengths) else 0
        width = longest if width is None else width
        # Shape: (steps, batch)
        alive = lengths > torch.arange(longest, device=lengths.device).unsqueeze(1)
        steps, ranks = alive.nonzero(as_tuple=True)
        starts = rows[ranks] * width
        return cls(
            rows=rows,
            batch_sizes=alive.sum(dim=1).tolist(),
            forward_index=starts + steps,
            backward_index=starts + lengths[ranks] - 1 - steps,
        )
