import math
from typing import Any

import torch
from allennlp.modules import Seq2SeqEncoder
from allennlp.modules.seq2seq_encoders import GruSeq2SeqEncoder, LstmSeq2SeqEncoder
from torch.autograd.function import once_differentiable

from elmo_tasks.kernels.packing import Packing, Steps, mirror_of
from elmo_tasks.kernels.steps import gru_gradient, gru_step, step, step_gradient
from elmo_tasks.kernels.trained_product import step_product, summed, summed_product, trained_product


class PackedEncoder(Seq2SeqEncoder):
    """
    A base class that speeds up AllenNLP's encoders of one bidirectional LSTM or GRU layer on a CPU:
    it skips padding, and computes the gradient of each weight by one product for all steps, where
    PyTorch adds up a product for each step. On a GPU, AllenNLP's code with cuDNN is used. A
    subclass inherits first from this class, then from AllenNLP's encoder.

    # Parameters

    hidden_size: Width of the state of one direction, half the width of the output.
    """

    # Computes the states of one direction from its input products, recurrent weight, bias and
    # `Steps`.
    recurrence: type[torch.autograd.Function]

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size, bidirectional=True)  # type: ignore[call-arg]

    def forward(
        self, inputs: torch.Tensor, mask: torch.Tensor, hidden_state: None = None
    ) -> torch.Tensor:
        """
        Maps inputs of shape (batch, length, input_size) to (batch, length, 2 * hidden_size), zeros
        at padding. Padding must be at the end.
        """
        if inputs.is_cuda:
            return super().forward(inputs, mask)
        batch, length = mask.shape
        packing = Packing.of(mask.sum(dim=1), length)
        # Shape: (tokens, input_size), packed in the order of the forward direction
        x = inputs.flatten(0, 1).index_select(0, packing.forward_index)
        mirror = mirror_of(packing, batch * length)
        both = []
        for suffix in ("", "_reverse"):
            input_weight, input_bias, weight, bias = (
                getattr(self._module, f"{name}_l0{suffix}")
                for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
            )
            gates = trained_product(x, input_weight, input_bias).to(weight.dtype)
            if suffix:
                gates = gates.index_select(0, mirror)
            # Half precision is too coarse for the states, because they add up over all steps.
            with torch.autocast(gates.device.type, enabled=False):
                h = self.recurrence.apply(gates, weight, bias, Steps(packing.batch_sizes))
            both.append(h.index_select(0, mirror) if suffix else h)
        # Shape: (tokens, 2 * hidden_size)
        h = torch.cat(both, dim=-1)
        flat = h.new_zeros(batch * length, h.size(1)).index_copy(0, packing.forward_index, h)
        return flat.unflatten(0, (batch, length))


class GruSteps(torch.autograd.Function):
    """
    Runs one direction over packed steps: h_t = (1 - z) * n + z * h_{t-1}, where
    n = tanh(gates_n + r * u_n), r = sigmoid(gates_r + u_r), z = sigmoid(gates_z + u_z) and
    u = W h_{t-1} + b. The parts of W, b and `gates` are in PyTorch's order r, z, n. `gates` have
    shape (tokens, 3 * hidden_size). Returns the states, shape (tokens, hidden_size).
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
            passed = carried[: now.stop - now.start]
            gru_gradient(
                rz[now], n[now], u_n[now], before[now], d_h[now], passed, d_gates[now], d_u[now]
            )
            passed += step_product(d_u[window], weight.t())[: len(passed)]
        d_u = d_u[: steps.num_tokens]
        return d_gates, summed_product(d_u, before), summed(d_u), None


@Seq2SeqEncoder.register("elmo_gru")
class ElmoGru(PackedEncoder, GruSeq2SeqEncoder):
    """
    AllenNLP's bidirectional `gru` of one layer, with the same weights under the same names, several
    times as fast to train on a CPU.

    Registered as a `Seq2SeqEncoder` with name "elmo_gru". It has the parameters of `PackedEncoder`.
    """

    recurrence = GruSteps


class LstmSteps(torch.autograd.Function):
    """
    Runs one direction over packed steps: c_t = f * c_{t-1} + i * g and h_t = o * tanh(c_t), where
    i, f and o are sigmoids of their parts of gates_t + W h_{t-1} + b, and g is the tanh of its
    part. The parts are in PyTorch's order i, f, g, o. `gates` have shape (tokens, 4 * hidden_size).
    Returns the states, shape (tokens, hidden_size). The functions `step` and `step_gradient` of the
    biLM's LSTM do the element-wise work.
    """

    @staticmethod
    def forward(
        ctx: Any, gates: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, steps: Steps
    ) -> torch.Tensor:
        dim = weight.size(1)
        weight = _swapped(weight, 0)
        # The gates with their bias. Each step overwrites its part with the values of the gates.
        values = _swapped(gates + bias, 1)
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
        return _swapped(d_values, 1), _swapped(d_weight, 0), _swapped(summed(d_values), 0), None


@Seq2SeqEncoder.register("elmo_lstm")
class ElmoLstm(PackedEncoder, LstmSeq2SeqEncoder):
    """
    AllenNLP's bidirectional `lstm` of one layer, with the same weights under the same names, faster
    to train on a CPU.

    Registered as a `Seq2SeqEncoder` with name "elmo_lstm". It has the parameters of
    `PackedEncoder`.
    """

    recurrence = LstmSteps


def _swapped(gates: torch.Tensor, dim: int) -> torch.Tensor:
    """
    Swaps the last two of the four gates along a dimension: PyTorch has them in the order input,
    forget, candidate, output, and `step` in the order input, forget, output, candidate.
    """
    first, third, fourth = gates.tensor_split((gates.size(dim) // 2, 3 * gates.size(dim) // 4), dim)
    return torch.cat([first, fourth, third], dim)
