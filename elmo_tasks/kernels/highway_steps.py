from typing import Any

import torch
from torch.autograd.function import once_differentiable

from elmo_tasks.kernels.packing import Steps
from elmo_tasks.kernels.trained_product import step_product, summed_product


class HighwaySteps(torch.autograd.Function):
    """
    Runs one direction of a highway LSTM over packed steps: c_t = f * c_{t-1} + i * g and
    h_t = r * o * tanh(c_t) + (1 - r) * v, where i, f, o and r are sigmoids of their parts of
    gates_t + W (d * h_{t-1}) + b, g is the tanh of its part, and d is the dropout mask. The parts
    are in AllenNLP's order i, f, g, o, r, v; the highway's value v is a part of `gates` alone.
    """

    @staticmethod
    def forward(
        ctx: Any,
        gates: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        dropout_mask: torch.Tensor | None,
        steps: Steps,
    ) -> torch.Tensor:
        """
        Returns the states, shape (tokens, hidden_size). The gates have shape (tokens, 6 *
        hidden_size), weight and bias (5 * hidden_size, ...), and the scaled `dropout_mask` (rows,
        hidden_size).
        """
        dim = weight.size(1)
        v = gates[:, 5 * dim :].contiguous()
        # The gates after their sigmoid or tanh.
        gates, u = steps.empty(gates, 5 * dim), gates[:, : 5 * dim]
        torch.add(u, bias, out=gates[: len(u)])
        c, y, tanh_c, h = (steps.empty(gates, dim) for _ in range(4))
        output, memory = gates.new_zeros(2, steps.num_rows, dim)
        for step, window in zip(steps.slices, steps.windows):
            rows, padded = step.stop - step.start, window.stop - window.start
            u = step_product(output[:padded], weight)[:rows].add_(gates[step])
            # tanh(x) is computed as 2 sigmoid(2x) - 1: PyTorch's sigmoid is several times as fast.
            u[:, 2 * dim : 3 * dim].mul_(2)
            i, f, g, o, r = torch.sigmoid(u, out=gates[step]).split(dim, dim=1)
            g.mul_(2).sub_(1)
            memory = torch.mul(f, memory[:rows], out=c[step]).addcmul_(i, g)
            tanh = torch.mul(memory, 2, out=tanh_c[step]).sigmoid_().mul_(2).sub_(1)
            torch.mul(o, tanh, out=y[step])
            torch.lerp(v[step], y[step], r, out=h[step])
            output = h[window] if dropout_mask is None else h[window] * dropout_mask[:padded]
        gates, c, y, tanh_c, h = (tensor[: steps.num_tokens] for tensor in (gates, c, y, tanh_c, h))
        ctx.save_for_backward(weight, dropout_mask, gates, v, c, y, tanh_c, h)
        ctx.steps = steps
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_h: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        weight, dropout_mask, gates, v, c, y, tanh_c, h = ctx.saved_tensors
        steps: Steps = ctx.steps
        dim = weight.size(1)
        i, f, g, o, r = gates.split(dim, dim=1)
        # The gradient of c_t times `by_i`, `by_f` and `by_g` is the gradient of i, f and g before
        # their sigmoid or tanh. The gradient of h_t times `by_o`, `by_r` and `by_v` is that of o, r
        # and v. The gradient of h_t times `by_c` is a part of the gradient of c_t. The gradients
        # overwrite these factors. Shape: (tokens, 6, hidden_size)
        d_gates = steps.empty(gates, 6, dim)
        by_i, by_f, by_g, by_o, by_r, by_v = d_gates[: steps.num_tokens].unbind(1)
        torch.mul(g * i, 1 - i, out=by_i)
        torch.mul(steps.before(c) * f, 1 - f, out=by_f)
        torch.mul(i, 1 - g * g, out=by_g)
        torch.sub(1, r, out=by_v)
        torch.mul((y - v) * r, by_v, out=by_r)
        torch.mul(y * r, 1 - o, out=by_o)
        by_c = o * (1 - tanh_c * tanh_c) * r
        carried, carried_c = gates.new_zeros(2, steps.num_rows, dim)
        rows = 0
        recurrent = weight.t()
        for step, window in zip(reversed(steps.slices), reversed(steps.windows)):
            d_t = d_h[step].clone()
            d_t[:rows] += carried[:rows]
            rows = step.stop - step.start
            d_c = carried_c[:rows].addcmul_(d_t, by_c[step])
            d_gates[step, :3].mul_(d_c.unsqueeze(1))
            d_gates[step, 3:].mul_(d_t.unsqueeze(1))
            d_c.mul_(f[step])
            carried = step_product(d_gates[window, :5].flatten(1), recurrent)
            if dropout_mask is not None:
                carried *= dropout_mask[: len(carried)]
        d_gates = d_gates[: steps.num_tokens].flatten(1)
        d_u = d_gates[:, : 5 * dim]
        before = steps.before(h)
        if dropout_mask is not None:
            before = before * torch.cat(
                [dropout_mask[: step.stop - step.start] for step in steps.slices]
            )
        return d_gates, summed_product(d_u, before), d_u.sum(dim=0), None, None
