from collections.abc import Iterator

import torch

from elmo_tasks.kernels.frozen_product import FrozenProduct
from elmo_tasks.kernels.lstm_step import step

# The input products of several steps are computed at once, in blocks of this many gates. A block
# fills 8 MB, which the allocator reuses for the next block; fresh memory would cost these products
# a third of their speed.
_BLOCK_GATES = 2 << 20


class FrozenRecurrence:
    """
    Runs a `ProjectedLstm` over packed steps, as `Recurrence` does, without a gradient. The matrix
    products are in `dtype`, by default that of the weights.
    """

    def __init__(
        self,
        input_weight: torch.Tensor,
        recurrent_weight: torch.Tensor,
        bias: torch.Tensor,
        projection_weight: torch.Tensor,
        dtype: torch.dtype | None = None,
    ) -> None:
        self._input = FrozenProduct(input_weight, bias, dtype)
        self._recurrent = FrozenProduct(recurrent_weight, dtype=dtype)
        self._projection = FrozenProduct(projection_weight, dtype=dtype)

    def __call__(
        self,
        inputs: torch.Tensor,
        batch_sizes: list[int],
        h: torch.Tensor,
        c: torch.Tensor,
        cell_clip: float,
        projection_clip: float,
    ) -> torch.Tensor:
        """
        Returns the outputs, shape (tokens, projection_dim). `h` and `c` hold the state before the
        first step. The state after the last step overwrites them in place.
        """
        outputs = inputs.new_empty(len(inputs), h.size(1))
        cell_dim = c.size(1)
        output, start = h, 0
        for block in _blocks(batch_sizes, _BLOCK_GATES // (4 * cell_dim)):
            # Shape: (tokens of the block, 4 * cell_dim)
            gates = self._input(inputs[start : start + sum(block)])
            hidden = gates.new_empty(block[0], cell_dim)
            for gate in gates.split(block):
                rows = len(gate)
                if rows < len(output):
                    h[rows : len(output)] = output[rows:]
                    output, hidden = output[:rows], hidden[:rows]
                step(gate, self._recurrent(output), c[:rows], cell_clip, hidden)
                output = outputs[start : start + rows]
                projected = self._projection(hidden).to(output.dtype)
                torch.clamp(projected, -projection_clip, projection_clip, out=output)
                start += rows
        h[: len(output)] = output
        return outputs


def _blocks(batch_sizes: list[int], max_tokens: int) -> Iterator[list[int]]:
    """
    Yields the batch sizes in blocks of steps that have at most `max_tokens` tokens together. A step
    with more tokens is a block of its own.
    """
    block: list[int] = []
    for rows in batch_sizes:
        if block and sum(block) + rows > max_tokens:
            yield block
            block = []
        block.append(rows)
    if block:
        yield block
