from typing import Any

import torch
from allennlp.modules.seq2seq_encoders import GruSeq2SeqEncoder, Seq2SeqEncoder
from torch.autograd.function import once_differentiable

from elmo_tasks.bilm.trained_product import step_product, summed, summed_product
from elmo_tasks.modules.recurrent import Steps, run_both_directions


@Seq2SeqEncoder.register("elmo_gru")
class ElmoGru(GruSeq2SeqEncoder):
    """
    AllenNLP's bidirectional `gru` of one layer, with the same weights under the same names, but
    several times as fast to train on a CPU: padding is not computed, and the gradient of each
    weight is one product for all steps. On a GPU, AllenNLP's own code runs cuDNN.

    Registered as a `Seq2SeqEncoder` with name "elmo_gru".

    # Parameters

    input_size : `int`
        Width of the input.
    hidden_size : `int`
        Width of the state of one direction, half the width of the output.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size, bidirectional=True)

    def forward(
        self, inputs: torch.Tensor, mask: torch.Tensor, hidden_state: None = None
    ) -> torch.Tensor:
        """
        # Parameters

        inputs : `torch.Tensor`
            Shape (batch, length, input_size).
        mask : `torch.BoolTensor`
            Shape (batch, length); padding is at the end.

        # Returns

        `torch.Tensor`
            Shape (batch, length, 2 * hidden_size), zeros at padding.
        """
        if inputs.is_cuda:
            return super().forward(inputs, mask)
        return run_both_directions(self._module, GruSteps, inputs, mask)


class GruSteps(torch.autograd.Function):
    """
    Runs one direction over packed steps: h_t = (1 - z) * n + z * h_{t-1}, where
    n = tanh(gates_n + r * u_n), r = sigmoid(gates_r + u_r), z = sigmoid(gates_z + u_z) and
    u = W h_{t-1} + b. `gates` and u have one part for each gate, in PyTorch's order r, z, n.
    """

    @staticmethod
    def forward(
        ctx: Any, gates: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, steps: Steps
    ) -> torch.Tensor:
        """
        # Parameters

        gates : `torch.Tensor`
            Shape (tokens, 3 * hidden_size), packed.
        weight, bias : `torch.Tensor`
            Shapes (3 * hidden_size, hidden_size) and (3 * hidden_size,).
        steps : `Steps`

        # Returns

        `torch.Tensor`
            Shape (tokens, hidden_size), packed.
        """
        dim = weight.size(1)
        # These are kept for the gradient.
        rz, n, u_n = (gates.new_empty(len(gates), width) for width in (2 * dim, dim, dim))
        h = steps.empty(gates, dim)
        output = gates.new_zeros(steps.num_rows, dim)
        for step, window in zip(steps.slices, steps.windows):
            rows = step.stop - step.start
            u = step_product(output[: window.stop - window.start], weight, bias)[:rows]
            torch.add(gates[step, : 2 * dim], u[:, : 2 * dim], out=rz[step]).sigmoid_()
            r, z = rz[step].split(dim, dim=1)
            u_n[step] = u[:, 2 * dim :]
            torch.addcmul(gates[step, 2 * dim :], r, u_n[step], out=n[step])
            # tanh(x) = 2 sigmoid(2x) - 1, since PyTorch's sigmoid is several times as fast as its
            # tanh.
            n[step].mul_(2).sigmoid_().mul_(2).sub_(1)
            torch.lerp(n[step], output[:rows], z, out=h[step])
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
        r, z = rz.split(dim, dim=1)
        before = steps.before(h)
        # The gradient of h_t gives the gradient of the input of n's tanh when multiplied by `by_n`,
        # and the gradient of u when multiplied by the three factors, which it overwrites.
        # Shape: (tokens, 3, hidden_size)
        d_u = steps.empty(h, 3, dim)
        by_r, by_z, by_u_n = d_u[: steps.num_tokens].unbind(1)
        by_n = (1 - z).mul_(1 - n * n)
        torch.mul(by_n, r, out=by_u_n)
        torch.mul(by_u_n * u_n, 1 - r, out=by_r)
        torch.mul((before - n).mul_(z), 1 - z, out=by_z)
        d_n = by_n
        carried = h.new_zeros(steps.num_rows, dim)
        rows = 0
        for step, window in zip(reversed(steps.slices), reversed(steps.windows)):
            d_t = d_h[step].clone()
            d_t[:rows] += carried[:rows]
            rows = step.stop - step.start
            d_n[step].mul_(d_t)
            d_u[step].mul_(d_t.unsqueeze(1))
            carried = step_product(d_u[window].flatten(1), weight.t())
            carried[:rows].addcmul_(d_t, z[step])
        d_u = d_u[: steps.num_tokens].flatten(1)
        d_gates = d_u.clone()
        d_gates[:, 2 * dim :] = d_n
        return d_gates, summed_product(d_u, before), summed(d_u), None
