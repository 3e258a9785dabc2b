import math
from collections.abc import Iterator

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from elmo_tasks.kernels.frozen_product import FrozenProduct, padded_rows
from elmo_tasks.kernels.steps import step, step_gradient
from elmo_tasks.kernels.trained_product import product, product_dtype, sum_rows, summed_product

# The input products of several steps are computed at once, in blocks of this many gates. A block
# fills 8 MB, which the allocator reuses for the next block; fresh memory would cost these products
# a third of their speed.
_BLOCK_GATES = 2 << 20


class Recurrence(torch.autograd.Function):
    """
    Runs a `ProjectedLstm` over packed steps, with a gradient. One matrix product serves the inputs
    of all steps, and one product computes the gradient of each weight. `h` and `c` hold the state
    before the first step. The state after the last step overwrites both in place.

    Under autocast, matrix products have autocast's dtype; sums, cell states and outputs keep the
    dtype of `c`.
    """

    @staticmethod
    def forward(
        ctx,
        inputs,
        input_weight,
        recurrent_weight,
        bias,
        projection_weight,
        h,
        c,
        batch_sizes,
        cell_clip,
        projection_clip,
    ):
        dtype = product_dtype(inputs)
        # The inputs get a few rows of zeros, because oneDNN compiles code for each number of rows
        # (see `padded_rows`). `tokens` includes these rows.
        num_tokens, tokens = len(inputs), padded_rows(len(inputs))
        inputs = pad(inputs, (0, 0, 0, tokens - num_tokens))
        inputs, input_weight, recurrent_weight, bias, projection_weight = (
            tensor.to(dtype)
            for tensor in (inputs, input_weight, recurrent_weight, bias, projection_weight)
        )
        recur, project = FrozenProduct(recurrent_weight), FrozenProduct(projection_weight)
        # Shape: (tokens, 4 * cell_dim)
        gates = product(inputs, input_weight, bias)
        outputs = _rows(inputs, num_tokens, tokens, h.size(1))
        cells = c.new_empty(num_tokens, c.size(1))
        # Copies, because the state after the last step overwrites h and c.
        first = h.to(dtype, copy=True), c.clone()
        output, hidden, start = h.to(dtype), inputs.new_empty(c.shape), 0
        for rows in batch_sizes:
            now = slice(start, start + rows)
            if rows < len(output):
                h[rows : len(output)] = output[rows:]
                output, hidden = output[:rows], hidden[:rows]
            step(gates[now], recur(output), c[:rows], cell_clip, hidden, cells[now])
            output = outputs[now]
            torch.clamp(project(hidden), -projection_clip, projection_clip, out=output)
            start += rows
        h[: len(output)] = output
        ctx.batch_sizes, ctx.first = batch_sizes, first
        ctx.cell_clip, ctx.projection_clip = cell_clip, projection_clip
        ctx.save_for_backward(
            inputs, input_weight, recurrent_weight, projection_weight, gates, cells, outputs
        )
        return outputs[:num_tokens].to(c.dtype, copy=True)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_outputs):
        inputs, input_weight, recurrent_weight, projection_weight, gates, cells, outputs = (
            ctx.saved_tensors
        )
        dtype, wide = inputs.dtype, cells.dtype
        first_h, first_c = ctx.first
        recur, project = FrozenProduct(recurrent_weight.t()), FrozenProduct(projection_weight.t())
        # Shapes: (tokens, 4 * cell_dim), (tokens, cell_dim) and (tokens, projection_dim)
        num_tokens, tokens = len(cells), len(inputs)
        grad_gates = _rows(gates, num_tokens, tokens, gates.size(1))
        hidden = _rows(inputs, num_tokens, tokens, cells.size(1))
        grad_outputs = pad(grad_outputs.to(dtype), (0, 0, 0, tokens - num_tokens))
        # The bound is rounded like the outputs, so that clipped outputs equal it.
        projection_clip = torch.tensor(ctx.projection_clip, dtype=dtype).item()
        grad_h = torch.zeros_like(first_h)
        grad_c = torch.zeros_like(first_c)
        previous = _previous(ctx.batch_sizes)
        stop = num_tokens
        for rows, before in zip(reversed(ctx.batch_sizes), reversed(previous)):
            now = slice(stop - rows, stop)
            grad_output = grad_outputs[now].add_(grad_h[:rows])
            if ctx.projection_clip < math.inf:
                grad_output *= outputs[now].abs() < projection_clip
            step_gradient(
                gates[now],
                cells[now],
                first_c[:rows] if before is None else cells[before],
                project(grad_output),
                grad_c[:rows],
                ctx.cell_clip,
                grad_gates[now],
                hidden[now],
            )
            grad_h[:rows] = recur(grad_gates[now])
            stop -= rows
        # The outputs that were fed back, shape (tokens, projection_dim)
        first_rows = ctx.batch_sizes[0] if ctx.batch_sizes else 0
        fed = [first_h[:first_rows], *(outputs[before] for before in previous[1:])]
        fed = torch.cat([*fed, outputs[num_tokens:]])
        return (
            product(grad_gates, input_weight.t())[:num_tokens].to(wide),
            summed_product(grad_gates, inputs).to(wide),
            summed_product(grad_gates, fed).to(wide),
            sum_rows(grad_gates).to(wide),
            summed_product(grad_outputs, hidden).to(wide),
            *[None] * 5,
        )


def _rows(like: torch.Tensor, num_tokens: int, tokens: int, dim: int) -> torch.Tensor:
    """Returns a new tensor of shape (tokens, dim) with zeros in the rows from `num_tokens` on."""
    rows = like.new_empty(tokens, dim)
    rows[num_tokens:] = 0
    return rows


def _previous(batch_sizes: list[int]) -> list[slice | None]:
    """
    Returns, for each step, the tokens of the step before it, as a slice of as many rows as the step
    has.
    """
    previous: list[slice | None] = [None] * bool(batch_sizes)
    start = 0
    for before, rows in zip(batch_sizes, batch_sizes[1:]):
        previous.append(slice(start, start + rows))
        start += before
    return previous


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
        first step. The state after the last step overwrites both in place.
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
