import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch.autograd.function import once_differentiable

from elmo_tasks.bilm.products import Derived, FrozenProduct

# Gates whose inputs are multiplied at once where there is no gradient: 8 MB, which the allocator
# gives again block after block. A third of the speed of these products is lost on fresh memory.
_BLOCK_GATES = 2 << 20


class LstmState(NamedTuple):
    """
    What one LSTM layer of one direction carries from step to step.

    # Parameters

    h : `torch.Tensor`
        Shape (rows, projection_dim), the clipped output, without the residual.
    c : `torch.Tensor`
        Shape (rows, cell_dim), the clipped memory.
    """

    h: torch.Tensor
    c: torch.Tensor


class ProjectedLstm(torch.nn.Module):
    """
    One direction of one layer of the biLM: an LSTM whose output is projected to a smaller width
    before it is put out and fed back, with bounds on the memory and on the projected output
    (Sak et al. 2014; Peters et al. 2018, section 3.2). It equals `torch.nn.LSTM` with `proj_size`
    where there are no bounds.

    The four gates lie in the order input, forget, output, candidate, so that one sigmoid serves
    the first three.

    # Parameters

    input_dim, cell_dim, projection_dim : `int`
        Widths of what comes in, of the memory, and of what goes out.
    cell_clip, projection_clip : `float | None`
        Bounds on the absolute values of the memory and of the output.
    dtype : `torch.dtype`, optional
        Of the products while no gradient is wanted; by default that of the weights.
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
        self._products = Derived(_products)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weights as TensorFlow's LSTM does, whose input and recurrent are one matrix."""
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
            Rows alive in each step.
        state : `LstmState`
            Of every row before its first step. No gradient reaches it.

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
            outputs = _Scan.apply(inputs, *weights, h, c, batch_sizes, *clips)
        else:
            outputs = self._read(inputs, batch_sizes, h, c)
        return outputs, LstmState(h, c)

    def _read(
        self, inputs: torch.Tensor, batch_sizes: list[int], h: torch.Tensor, c: torch.Tensor
    ) -> torch.Tensor:
        """The outputs, without what a gradient needs; `h` and `c` become the states after."""
        products = self._products.of(
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
            projected = products.input(inputs[start : start + sum(block)])
            for rows in block:
                h[rows : len(output)] = output[rows:]
                gates = products.recurrent(output[:rows], projected[:rows]).to(c.dtype)
                projected, memory = projected[rows:], c[:rows]
                # tanh(x) = 2 sigmoid(2 x) - 1: PyTorch's sigmoid is ten times as fast as its tanh.
                gates[:, 3 * self.cell_dim :].mul_(2)
                i, f, o, g = gates.sigmoid_().split(self.cell_dim, dim=1)
                memory.mul_(f).addcmul_(i, g, value=2).sub_(i)
                if self.cell_clip < math.inf:
                    memory.clamp_(-self.cell_clip, self.cell_clip)
                half_tanh = torch.mul(memory, 2).sigmoid_().sub_(0.5)
                output = products.projection(half_tanh.mul_(o)).to(c.dtype)
                if self.projection_clip < math.inf:
                    output.clamp_(-self.projection_clip, self.projection_clip)
                outputs[start : start + rows] = output
                start += rows
        h[: len(output)] = output
        return outputs


class _Products(NamedTuple):
    """Those of one layer; the projection takes half of what it projects."""

    input: FrozenProduct
    recurrent: FrozenProduct
    projection: FrozenProduct


class _Scan(torch.autograd.Function):
    """
    The recurrence over packed steps. The products that need no earlier step, and the gradients of
    the weights, are one product each for all steps; a step's work is in place. `h` and `c` come in
    as the states before and go out, in place, as those after.

    Under autocast the products are in its dtype; sums, memory and outputs keep that of the memory.
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
        dtype = _product_dtype(inputs)
        inputs, input_weight, recurrent_weight, projection_weight = (
            tensor.to(dtype)
            for tensor in (inputs, input_weight, recurrent_weight, projection_weight)
        )
        cell_dim, wide = c.size(1), c.dtype
        # Shape: (tokens, 4 * cell_dim)
        gates = torch.addmm(bias.to(dtype), inputs, input_weight.t())
        outputs = inputs.new_empty(len(inputs), h.size(1))
        cells = c.new_empty(len(inputs), cell_dim)
        # Copies, since h and c become the states after.
        first = LstmState(h.to(dtype, copy=True), c.clone())
        output, start = h.to(dtype), 0
        for rows in batch_sizes:
            step = slice(start, start + rows)
            h[rows : len(output)] = output[rows:]
            gate, memory = gates[step], c[:rows]
            gate.addmm_(output[:rows], recurrent_weight.t())
            gate[:, : 3 * cell_dim].sigmoid_()
            gate[:, 3 * cell_dim :].tanh_()
            i, f, o, g = gate.to(wide).split(cell_dim, dim=1)
            memory.mul_(f).addcmul_(i, g)
            if cell_clip < math.inf:
                memory.clamp_(-cell_clip, cell_clip)
            output = outputs[step]
            torch.mm(torch.tanh(memory).mul_(o).to(dtype), projection_weight.t(), out=output)
            if projection_clip < math.inf:
                output.clamp_(-projection_clip, projection_clip)
            cells[step] = memory
            start += rows
        h[: len(output)] = output
        ctx.batch_sizes, ctx.first = batch_sizes, first
        ctx.cell_clip, ctx.projection_clip = cell_clip, projection_clip
        ctx.save_for_backward(
            inputs, input_weight, recurrent_weight, projection_weight, gates, cells, outputs
        )
        return outputs.to(wide, copy=True)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_outputs):
        inputs, input_weight, recurrent_weight, projection_weight, gates, cells, outputs = (
            ctx.saved_tensors
        )
        dtype, wide, cell_dim = inputs.dtype, cells.dtype, cells.size(1)
        # Shapes: (tokens, 4 * cell_dim) and (tokens, projection_dim)
        grad_gates = torch.empty_like(gates)
        grad_outputs = grad_outputs.to(dtype, copy=True)
        # As the outputs have it, in their precision.
        projection_clip = torch.tensor(ctx.projection_clip, dtype=dtype, device=outputs.device)
        grad_h = torch.zeros_like(ctx.first.h)
        grad_c = torch.zeros_like(ctx.first.c)
        previous = _previous(ctx.batch_sizes)
        stop = len(outputs)
        for rows, before in zip(reversed(ctx.batch_sizes), reversed(previous)):
            step = slice(stop - rows, stop)
            i, f, o, g = gates[step].to(wide).split(cell_dim, dim=1)
            grad_output = grad_outputs[step].add_(grad_h[:rows])
            if ctx.projection_clip < math.inf:
                grad_output *= outputs[step].abs() < projection_clip
            tanh = torch.tanh(cells[step])
            grad_projected = torch.mm(grad_output, projection_weight).to(wide)
            grad_o = grad_projected * tanh
            memory = grad_c[:rows].addcmul_(grad_projected.mul_(o), 1 - tanh * tanh)
            if ctx.cell_clip < math.inf:
                memory *= cells[step].abs() < ctx.cell_clip
            cell_before = ctx.first.c[:rows] if before is None else cells[before]
            gate = grad_gates[step]
            grad_gate = gate.split(cell_dim, dim=1)
            torch.mul(memory * g, i - i * i, out=grad_gate[0])
            torch.mul(memory * cell_before, f - f * f, out=grad_gate[1])
            torch.mul(grad_o, o - o * o, out=grad_gate[2])
            torch.mul(memory * i, 1 - g * g, out=grad_gate[3])
            memory.mul_(f)
            torch.mm(gate, recurrent_weight, out=grad_h[:rows])
            stop -= rows
        # The output that each step was fed, and what each step projected.
        # Shapes: (tokens, projection_dim) and (tokens, cell_dim)
        first_rows = ctx.batch_sizes[0] if ctx.batch_sizes else 0
        fed = torch.cat([ctx.first.h[:first_rows]] + [outputs[before] for before in previous[1:]])
        projected = torch.tanh(cells).mul_(gates[:, 2 * cell_dim : 3 * cell_dim]).to(dtype)
        return (
            torch.mm(grad_gates, input_weight).to(wide),
            torch.mm(grad_gates.t(), inputs).to(wide),
            torch.mm(grad_gates.t(), fed).to(wide),
            grad_gates.sum(dim=0, dtype=wide),
            torch.mm(grad_outputs.t(), projected).to(wide),
            *[None] * 5,
        )


def _products(
    input_weight: torch.Tensor,
    recurrent_weight: torch.Tensor,
    bias: torch.Tensor,
    projection_weight: torch.Tensor,
    dtype: torch.dtype | None,
) -> _Products:
    return _Products(
        FrozenProduct(input_weight, dtype=dtype),
        FrozenProduct(recurrent_weight, bias, dtype),
        FrozenProduct(2 * projection_weight, dtype=dtype),
    )


def _blocks(batch_sizes: list[int], max_tokens: int) -> Iterator[list[int]]:
    """Steps in groups of a bounded number of tokens: their inputs are one product."""
    block: list[int] = []
    for rows in batch_sizes:
        if block and sum(block) + rows > max_tokens:
            yield block
            block = []
        block.append(rows)
    if block:
        yield block


def _product_dtype(inputs: torch.Tensor) -> torch.dtype:
    device = inputs.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else inputs.dtype


def _previous(batch_sizes: list[int]) -> list[slice | None]:
    """For each step, the packed places of the step before, of the rows alive in both."""
    previous: list[slice | None] = [None] * bool(batch_sizes)
    start = 0
    for before, rows in zip(batch_sizes, batch_sizes[1:]):
        previous.append(slice(start, start + rows))
        start += before
    return previous
