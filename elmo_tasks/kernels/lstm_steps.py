import math
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from elmo_tasks.kernels.packing import Steps
from elmo_tasks.kernels.steps import step, step_gradient
from elmo_tasks.kernels.trained_product import step_product, sum_rows, summed_product


class LstmSteps(torch.autograd.Function):
    """
    Runs one direction of an LSTM over packed steps: c_t = f * c_{t-1} + i * g and h_t = o *
    tanh(c_t), where i, f and o are sigmoids of their parts of gates_t + W h_{t-1} + b, and g is the
    tanh of its part. The parts are in PyTorch's order i, f, g, o. `gates` have shape (tokens, 4 *
    hidden_size). Returns the states, shape (tokens, hidden_size). The element-wise work is done by
    `step` and `step_gradient`, as for the biLM's LSTM.
    """

    @staticmethod
    def forward(
        ctx: Any, gates: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, steps: Steps
    ) -> torch.Tensor:
        dim = weight.size(1)
        weight = _swap_last_gates(weight, 0)
        # The gates with their bias. Each step overwrites its part with the values of the gates.
        values = _swap_last_gates(gates + bias, 1)
        c, h = values.new_empty(len(values), dim), steps.empty(values, dim)
        output, memory = values.new_zeros(2, steps.num_rows, dim)
        for now, window in zip(steps.slices, steps.windows):
            rows = now.stop - now.start
            recurrent = step_product(output[: window.stop - window.start], weight)[:rows]
            step(values[now], recurrent, memory[:rows], math.inf, h[now], c[now])
            output = h[window]
        h = h[: steps.num_tokens]
        ctx.save_for_backward(weight, values, c, h)
        ctx.steps = steps
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_h: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        weight, values, c, h = ctx.saved_tensors
        steps: Steps = ctx.steps
        dim = weight.size(1)
        before = steps.before(c)
        d_values = steps.empty(values, 4 * dim)
        # `step_gradient` also computes h_t again, which is already known.
        carried, carried_c, again = values.new_zeros(3, steps.num_rows, dim)
        rows = 0
        for now, window in zip(reversed(steps.slices), reversed(steps.windows)):
            d_t = d_h[now].clone(memory_format=torch.contiguous_format)
            d_t[:rows] += carried[:rows]
            rows = now.stop - now.start
            step_gradient(
                values[now],
                c[now],
                before[now],
                d_t,
                carried_c[:rows],
                math.inf,
                d_values[now],
                again[:rows],
            )
            carried = step_product(d_values[window], weight.t())
        d_values = d_values[: steps.num_tokens]
        d_weight = summed_product(d_values, steps.before(h))
        return (
            _swap_last_gates(d_values, 1),
            _swap_last_gates(d_weight, 0),
            _swap_last_gates(sum_rows(d_values), 0),
            None,
        )


def _swap_last_gates(gates: torch.Tensor, dim: int) -> torch.Tensor:
    """
    Swaps the last two of the four gates along a dimension: PyTorch has them in the order input,
    forget, candidate, output, and `step` in the order input, forget, output, candidate.
    """
    first, third, fourth = gates.tensor_split((gates.size(dim) // 2, 3 * gates.size(dim) // 4), dim)
    return torch.cat([first, fourth, third], dim)
