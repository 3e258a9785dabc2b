from itertools import accumulate
from typing import NamedTuple

import torch

from elmo_tasks.kernels.trained_product import STEP_ROWS


class Packing(NamedTuple):
    """
    The order in which an LSTM visits the tokens of a batch, as in PyTorch's `PackedSequence`: step
    by step. A step visits the next token of each row that still has one, the longest row first.

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


class Steps:
    """The steps of a packed batch, from the `batch_sizes` of its `Packing`."""

    def __init__(self, sizes: list[int]) -> None:
        stops = list(accumulate(sizes))
        # The packed tokens that each step reads.
        self.slices = [slice(stop - size, stop) for size, stop in zip(sizes, stops)]
        # Each slice, extended over the tokens behind it to a multiple of `STEP_ROWS`.
        self.windows = [
            slice(step.start, step.start + _round_up(size))
            for size, step in zip(sizes, self.slices)
        ]
        self.num_rows = _round_up(max(sizes, default=0))
        self.num_tokens = sum(sizes)

    def empty(self, like: torch.Tensor, *dims: int) -> torch.Tensor:
        """
        Returns a new tensor of shape `(tokens + 15, *dims)`. A matrix product reads 16 rows or
        more, so the last steps read further rows.
        """
        return like.new_empty(self.num_tokens + STEP_ROWS - 1, *dims)

    def before(self, states: torch.Tensor) -> torch.Tensor:
        """Returns the state before each token, given the state after each: shape (tokens, dim)."""
        parts = [torch.zeros_like(states[step]) for step in self.slices[:1]]
        for before, step in zip(self.slices, self.slices[1:]):
            parts.append(states[before.start : before.start + step.stop - step.start])
        return torch.cat(parts) if parts else states


def mirror_of(packing: Packing, num_positions: int) -> torch.Tensor:
    """
    Returns, for each token of the backward order, its index in the forward order: shape (tokens,).
    The same indices map the forward order to the backward order. `num_positions` is batch * length.
    """
    index = packing.forward_index.new_empty(num_positions)
    index[packing.forward_index] = torch.arange(len(packing.forward_index), device=index.device)
    return index[packing.backward_index]


def _round_up(size: int) -> int:
    return -(-size // STEP_ROWS) * STEP_ROWS
