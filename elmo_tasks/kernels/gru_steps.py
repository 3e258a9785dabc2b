from typing import Any

import torch
from torch.autograd.function import once_differentiable

from elmo_tasks.kernels.packing import Steps
from elmo_tasks.kernels.steps import gru_gradient, gru_step
from elmo_tasks.kernels.trained_product import step_product, sum_rows, summed_product


class GruSteps(torch.autograd.Function):
    """
    Runs one direction of a GRU over packed steps: h_t = (1 - z) * n + z * h_{t-1}, where n =
    tanh(gates_n + r * u_n), r = sigmoid(gates_r + u_r), z = sigmoid(gates_z + u_z) and u = W
    h_{t-1} + b. The parts of W, b and `gates` are in PyTorch's order r, z, n. `gates` have shape
    (tokens, 3 * hidden_size). Returns the states, shape (tokens, hidden_size).
    """

    @staticmethod
    def forward(
        ctx: Any, gates: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, steps: Steps
    ) -> torch.Tensor:
        dim = weight.size(1)
        gates = gates.contiguous()
        # These are kept for the gradient.
        rz, n, u_n = (gates.new_empty(len(gates), width) for width in (2 * dim, dim, dim))
        h = steps.empty(gates, dim)
        output = gates.new_zeros(steps.num_rows, dim)
        for now, window in zip(steps.slices, steps.windows):
            rows = now.stop - now.start
            u = step_product(output[: window.stop - window.start], weight, bias)[:rows]
            gru_step(gates[now], u, output[:rows], rz[now], n[now], h[now])
            u_n[now] = u[:, 2 * dim :]
            output = h[window]
        h = h[: steps.num_tokens]
        ctx.save_for_backward(weight, h, rz, n, u_n)
        ctx.steps = steps
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_h: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        weight, h, rz, n, u_n = ctx.saved_tensors
        steps: Steps = ctx.steps
        dim = weight.size(1)
        before, d_h = steps.before(h), d_h.contiguous()
        d_gates = h.new_empty(len(h), 3 * dim)
        d_u = steps.empty(h, 3 * dim)
        carried = h.new_zeros(steps.num_rows, dim)
        for now, window in zip(reversed(steps.slices), reversed(steps.windows)):
            d_hidden = carried[: now.stop - now.start]
            gru_gradient(
                rz[now], n[now], u_n[now], before[now], d_h[now], d_hidden, d_gates[now], d_u[now]
            )
            d_hidden += step_product(d_u[window], weight.t())[: len(d_hidden)]
        d_u = d_u[: steps.num_tokens]
        return d_gates, summed_product(d_u, before), sum_rows(d_u), None
