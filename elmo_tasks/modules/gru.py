from typing import Any

import torch
from allennlp.modules.seq2seq_encoders import GruSeq2SeqEncoder, Seq2SeqEncoder
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear


@Seq2SeqEncoder.register("elmo_gru")
class ElmoGru(GruSeq2SeqEncoder):
    """
    AllenNLP's bidirectional `gru` of one layer, with the same weights under the same names, but
    several times as fast to train on a CPU: the two directions take each step together, and the
    gradient of the weights is one product for all steps. On a GPU, AllenNLP's own code runs cuDNN.

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
        order = _backward_order(mask)
        weights = [getattr(self._module, f"weight_ih_l0{suffix}") for suffix in _SUFFIXES]
        biases = [getattr(self._module, f"bias_ih_l0{suffix}") for suffix in _SUFFIXES]
        forward, backward = (linear(inputs, *parts) for parts in zip(weights, biases))
        # Shape: (length, 2, batch, 3 * hidden_size)
        gates = torch.stack([forward, _reordered(backward, order)]).permute(2, 0, 1, 3)
        # Shape: (length, 2, batch, hidden_size)
        h = _Steps.apply(gates, self._both("weight_hh_l0"), self._both("bias_hh_l0"))
        forward, backward = h.permute(1, 2, 0, 3)
        h = torch.cat([forward, _reordered(backward, order)], dim=-1)
        return h * mask.unsqueeze(-1)

    def _both(self, name: str) -> torch.Tensor:
        return torch.stack([getattr(self._module, f"{name}{suffix}") for suffix in _SUFFIXES])


# Suffixes of PyTorch's names for the weights of the forward and the backward direction.
_SUFFIXES = ("", "_reverse")


def _backward_order(mask: torch.Tensor) -> torch.Tensor:
    """
    Returns, for each step of the backward direction, the index of the token that is read in it:
    shape (batch, length). Reordering a tensor twice by this order gives the tensor again.
    """
    positions = torch.arange(mask.size(1), device=mask.device).expand_as(mask)
    mirrored = mask.sum(dim=1, keepdim=True) - 1 - positions
    return torch.where(mask, mirrored, positions)


def _reordered(x: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return x.gather(1, order.unsqueeze(-1).expand_as(x))


class _Steps(torch.autograd.Function):
    """
    Computes the recurrence of both directions at the same time: h_t = (1 - z) * n + z * h_{t-1},
    where n = tanh(gates_n + r * u_n), r = sigmoid(gates_r + u_r), z = sigmoid(gates_z + u_z) and
    u = W h_{t-1} + b. `gates` and u have one part for each gate, in PyTorch's order r, z, n.
    Padding needs no mask, since it comes last in both directions.
    """

    @staticmethod
    def forward(
        ctx: Any, gates: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        """
        # Parameters

        gates : `torch.Tensor`
            Shape (length, 2, batch, 3 * hidden_size).
        weight, bias : `torch.Tensor`
            Shapes (2, 3 * hidden_size, hidden_size) and (2, 3 * hidden_size).

        # Returns

        `torch.Tensor`
            Shape (length, 2, batch, hidden_size).
        """
        length, _, batch, _ = gates.shape
        dim = weight.size(2)
        by_column, bias = weight.transpose(1, 2).contiguous(), bias.unsqueeze(1)
        # h[t] is the state before step t. The other tensors are kept for the gradient of each step.
        h = gates.new_zeros(length + 1, 2, batch, dim)
        rz = gates.new_empty(length, 2, batch, 2 * dim)
        n, u_n = gates.new_empty(2, length, 2, batch, dim)
        for t in range(length):
            u = torch.baddbmm(bias, h[t], by_column)
            torch.add(gates[t, ..., : 2 * dim], u[..., : 2 * dim], out=rz[t]).sigmoid_()
            u_n[t] = u[..., 2 * dim :]
            torch.addcmul(gates[t, ..., 2 * dim :], rz[t, ..., :dim], u_n[t], out=n[t]).tanh_()
            torch.lerp(n[t], h[t], rz[t, ..., dim:], out=h[t + 1])
        ctx.save_for_backward(weight, h, rz, n, u_n)
        return h[1:].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_h: torch.Tensor) -> tuple[torch.Tensor, ...]:
        weight, h, rz, n, u_n = ctx.saved_tensors
        r, z = rz.chunk(2, dim=-1)
        # The gradient of h_t gives the gradient of the input of n's tanh when multiplied by `by_n`,
        # and the gradient of u when multiplied by `factors`.
        # Shape of factors: (length, 2, batch, 3, hidden_size)
        by_n = (1 - z) * (1 - n * n)
        by_r, by_z = by_n * u_n * r * (1 - r), (h[:-1] - n) * z * (1 - z)
        factors = torch.stack([by_r, by_z, by_n * r], dim=3)
        d_u = torch.empty_like(factors)
        d_n = torch.empty_like(n)
        carried = torch.zeros_like(d_h[0])
        for t in reversed(range(len(d_h))):
            d_t = carried + d_h[t]
            torch.mul(d_t, by_n[t], out=d_n[t])
            torch.mul(d_t.unsqueeze(2), factors[t], out=d_u[t])
            carried = torch.baddbmm(d_t * z[t], d_u[t].flatten(2), weight)
        d_gates = d_u.clone()
        d_gates[..., 2, :] = d_n
        # Shapes: (2, length * batch, 3 * hidden_size) and (2, length * batch, hidden_size)
        d_u, before = (each.flatten(3).transpose(0, 1).flatten(1, 2) for each in (d_u, h[:-1]))
        return d_gates.flatten(3), d_u.transpose(1, 2).bmm(before), d_u.sum(dim=1)
