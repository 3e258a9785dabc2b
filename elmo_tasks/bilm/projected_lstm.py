import math
from collections.abc import Iterator
from typing import NamedTuple

import torch

from elmo_tasks.bilm.frozen_product import FrozenProduct
from elmo_tasks.bilm.lstm_step import step
from elmo_tasks.bilm.recurrence import Recurrence
from elmo_tasks.bilm.state import LstmState
from elmo_tasks.bilm.weight_cache import WeightCache

# Without a gradient, the input products of several steps are computed at once, in blocks of this
# many gates. A block fills 8 MB, which the allocator reuses for the next block; in fresh memory
# these products lose a third of their speed.
_BLOCK_GATES = 2 << 20


class ProjectedLstm(torch.nn.Module):
    """
    One direction of one layer of the biLM: an LSTM whose output is projected to a smaller width
    before it is returned and fed back, with bounds on the memory and on the projected output (Sak
    et al. 2014; Peters et al. 2018, section 3.2). Without bounds it equals `torch.nn.LSTM` with
    `proj_size`.

    The four gates are in the order input, forget, output, candidate, so that one call of sigmoid
    serves the first three.

    # Parameters

    input_dim, cell_dim, projection_dim : `int`
        Widths of the input, of the memory and of the output.
    cell_clip, projection_clip : `float | None`
        Bounds on the absolute values of the memory and of the output.
    dtype : `torch.dtype`, optional
        The dtype of the matrix products while no gradient is needed; by default that of the
        weights.
    """

    def __init__(
        self,
        input_dim: int,
        cell_dim: int,
        projection_dim: int,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.dtype = dtype
        self.cell_dim = cell_dim
        self.projection_dim = projection_dim
        self.cell_clip = cell_clip or math.inf
        self.projection_clip = projection_clip or math.inf
        self.input_weight = torch.nn.Parameter(torch.empty(4 * cell_dim, input_dim))
        self.recurrent_weight = torch.nn.Parameter(torch.empty(4 * cell_dim, projection_dim))
        self.bias = torch.nn.Parameter(torch.empty(4 * cell_dim))
        self.projection_weight = torch.nn.Parameter(torch.empty(projection_dim, cell_dim))
        self._products = WeightCache(_products)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """
        Draws the weights as TensorFlow's LSTM does, where the input and the recurrent weight are
        one matrix.
        """
        fans = sum(self.input_weight.shape) + self.projection_dim
        for weight in (self.input_weight, self.recurrent_weight):
            torch.nn.init.uniform_(weight, -math.sqrt(6 / fans), math.sqrt(6 / fans))
        torch.nn.init.xavier_uniform_(self.projection_weight)
        torch.nn.init.zeros_(self.bias)
        self.bias.data[self.cell_dim : 2 * self.cell_dim] = 1

    def forward(
        self, inputs: torch.Tensor, batch_sizes: list[int], state: LstmState
    ) -> tuple[torch.Tensor, LstmState]:
        """
        # Parameters

        inputs : `torch.Tensor`
            Shape (tokens, input_dim), packed (see `Packing`).
        batch_sizes : `list[int]`
            The number of rows that have a token, for each step.
        state : `LstmState`
            The state of every row before its first step. No gradient reaches it.

        # Returns

        `tuple[torch.Tensor, LstmState]`
            The outputs of shape (tokens, projection_dim), packed, and the state of every row
            after its last step.
        """
        h, c = state.h.detach().clone(), state.c.detach().clone()
        weights = (self.input_weight, self.recurrent_weight, self.bias, self.projection_weight)
        trains = any(tensor.requires_grad for tensor in (inputs, *weights))
        if trains and torch.is_grad_enabled():
            clips = (self.cell_clip, self.projection_clip)
            outputs = Recurrence.apply(inputs, *weights, h, c, batch_sizes, *clips)
        else:
            outputs = self._run(inputs, batch_sizes, h, c)
        return outputs, LstmState(h, c)

    def _run(
        self, inputs: torch.Tensor, batch_sizes: list[int], h: torch.Tensor, c: torch.Tensor
    ) -> torch.Tensor:
        """
        Returns the outputs, without a gradient; `h` and `c` receive the state after the last step.
        """
        products = self._products.get(
            self.input_weight,
            self.recurrent_weight,
            self.bias,
            self.projection_weight,
            dtype=self.dtype,
        )
        outputs = inputs.new_empty(len(inputs), self.projection_dim)
        output, start = h, 0
        for block in _blocks(batch_sizes, _BLOCK_GATES // (4 * self.cell_dim)):
            # Shape: (tokens of the block, 4 * cell_dim)
            gates = products.input(inputs[start : start + sum(block)])
            hidden = gates.new_empty(block[0], self.cell_dim)
            for gate in gates.split(block):
                rows = len(gate)
                if rows < len(output):
                    h[rows : len(output)] = output[rows:]
                    output, hidden = output[:rows], hidden[:rows]
                step(gate, products.recurrent(output), c[:rows], self.cell_clip, hidden)
                output = outputs[start : start + rows]
                projected = products.projection(hidden).to(output.dtype)
                torch.clamp(projected, -self.projection_clip, self.projection_clip, out=output)
                start += rows
        h[: len(output)] = output
        return outputs


class _Products(NamedTuple):
    """Holds the products of one layer."""

    input: FrozenProduct
    recurrent: FrozenProduct
    projection: FrozenProduct


def _products(
    input_weight: torch.Tensor,
    recurrent_weight: torch.Tensor,
    bias: torch.Tensor,
    projection_weight: torch.Tensor,
    dtype: torch.dtype | None,
) -> _Products:
    return _Products(
        FrozenProduct(input_weight, bias, dtype),
        FrozenProduct(recurrent_weight, dtype=dtype),
        FrozenProduct(projection_weight, dtype=dtype),
    )


def _blocks(batch_sizes: list[int], max_tokens: int) -> Iterator[list[int]]:
    """
    Yields the batch sizes in blocks of at most `max_tokens` tokens, but of at least one step. The
    inputs of a block are multiplied at once.
    """
    block: list[int] = []
    for rows in batch_sizes:
        if block and sum(block) + rows > max_tokens:
            yield block
            block = []
        block.append(rows)
    if block:
        yield block
