from typing import Any

import torch
from allennlp.modules.seq2seq_encoders import LstmSeq2SeqEncoder, Seq2SeqEncoder
from torch.autograd.function import once_differentiable

from elmo_tasks.bilm.trained_product import step_product, summed_product
from elmo_tasks.modules.recurrent import Steps, run_both_directions


@Seq2SeqEncoder.register("elmo_lstm")
class ElmoLstm(LstmSeq2SeqEncoder):
    """
    AllenNLP's bidirectional `lstm` of one layer, with the same weights under the same names, but
    faster to train on a CPU: the gradient of each weight is one product for all steps, where
    PyTorch's LSTM adds up a product for each step. On a GPU, AllenNLP's own code runs cuDNN.

    Registered as a `Seq2SeqEncoder` with name "elmo_lstm".

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
        return run_both_directions(self._module, LstmSteps, inputs, mask)


class LstmSteps(torch.autograd.Function):
    """
    Runs one direction over packed steps: c_t = f * c_{t-1} + i * g and h_t = o * tanh(c_t), where
    i, f and o are sigmoids of their parts of gates_t + W h_{t-1} + b, and g is a tanh. The parts
    are in PyTorch's order i, f, g, o.
    """

    @staticmethod
    def forward(
        ctx: Any,
        gates: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        steps: Steps,
    ) -> torch.Tensor:
        """
        # Parameters

        gates : `torch.Tensor`
            Shape (tokens, 4 * hidden_size), packed.
        weight, bias : `torch.Tensor`
            Shapes (4 * hidden_size, hidden_size) and (4 * hidden_size,).
        steps : `Steps`

        # Returns

        `torch.Tensor`
            Shape (tokens, hidden_size), packed.
        """
        dim = weight.size(1)
        u = gates + bias
        # The gates after their sigmoid or tanh.
        gates = steps.empty(u, 4 * dim)
        gates[: len(u)] = u
        c, tanh_c, h = (steps.empty(u, dim) for _ in range(3))
        output, memory = u.new_zeros(2, steps.num_rows, dim)
        for step, window in zip(steps.slices, steps.windows):
            rows = step.stop - step.start
            u = step_product(output[: window.stop - window.start], weight, added=gates[window])
            u = u[:rows]
            # tanh(x) = 2 sigmoid(2x) - 1, since PyTorch's sigmoid is several times as fast as its
            # tanh.
            u[:, 2 * dim : 3 * dim].mul_(2)
            i, f, g, o = torch.sigmoid(u, out=gates[step]).split(dim, dim=1)
            g.mul_(2).sub_(1)
            memory = torch.mul(f, memory[:rows], out=c[step]).addcmul_(i, g)
            tanh = torch.mul(memory, 2, out=tanh_c[step]).sigmoid_().mul_(2).sub_(1)
            torch.mul(o, tanh, out=h[step])
            output = h[window]
        gates, c, tanh_c, h = (each[: steps.num_tokens] for each in (gates, c, tanh_c, h))
        ctx.save_for_backward(weight, gates, c, tanh_c, h)
        ctx.steps = steps
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_h: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        weight, gates, c, tanh_c, h = ctx.saved_tensors
        steps: Steps = ctx.steps
        dim = weight.size(1)
        i, f, g, o = gates.split(dim, dim=1)
        # The gradient of c_t, multiplied by the first three factors, gives the gradient of i, f and
        # g before their sigmoid or tanh. The gradient of h_t, multiplied by the last one, gives
        # that of o, and multiplied by `by_c` a part of that of c_t. The gradients overwrite the
        # factors.
        # Shape: (tokens, 4, hidden_size)
        d_gates = steps.empty(gates, 4, dim)
        by_i, by_f, by_g, by_o = d_gates[: steps.num_tokens].unbind(1)
        torch.mul(g * i, 1 - i, out=by_i)
        torch.mul(steps.before(c) * f, 1 - f, out=by_f)
        torch.mul(i, 1 - g * g, out=by_g)
        torch.mul(tanh_c * o, 1 - o, out=by_o)
        by_c = o * (1 - tanh_c * tanh_c)
        carried, carried_c = gates.new_zeros(2, steps.num_rows, dim)
        rows = 0
        for step, window in zip(reversed(steps.slices), reversed(steps.windows)):
            d_t = d_h[step].clone()
            d_t[:rows] += carried[:rows]
            rows = step.stop - step.start
            d_c = carried_c[:rows].addcmul_(d_t, by_c[step])
            d_gates[step, :3].mul_(d_c.unsqueeze(1))
            d_gates[step, 3].mul_(d_t)
            d_c.mul_(f[step])
            carried = step_product(d_gates[window].flatten(1), weight.t())
        d_gates = d_gates[: steps.num_tokens].flatten(1)
        return d_gates, summed_product(d_gates, steps.before(h)), d_gates.sum(dim=0), None
