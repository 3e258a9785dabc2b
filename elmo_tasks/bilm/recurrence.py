import math

import torch
from torch.autograd.function import once_differentiable

from elmo_tasks.bilm.state import LstmState


class Recurrence(torch.autograd.Function):
    """
    Runs a `ProjectedLstm` over packed steps, with a gradient. Products that do not depend on an
    earlier step are computed as one product for all steps, and so are the gradients of the weights;
    a step works in place. `h` and `c` hold the state before the first step and are overwritten, in
    place, with the state after the last.

    Under autocast, matrix products have autocast's dtype; sums, memory and outputs keep the dtype
    of the memory.
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
        # This is a copy, since h and c are overwritten with the state after the last step.
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
        # The bound is rounded as the outputs are, so that clipped outputs are equal to it.
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
        # `fed` holds the output of the step before, `projected` what each step projected.
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


def _product_dtype(inputs: torch.Tensor) -> torch.dtype:
    device = inputs.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else inputs.dtype


def _previous(batch_sizes: list[int]) -> list[slice | None]:
    """
    Returns for each step the slice of the step before, with only the rows that both steps have.
    """
    previous: list[slice | None] = [None] * bool(batch_sizes)
    start = 0
    for before, rows in zip(batch_sizes, batch_sizes[1:]):
        previous.append(slice(start, start + rows))
        start += before
    return previous
