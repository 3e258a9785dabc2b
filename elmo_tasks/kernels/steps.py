"""
Computes the element-wise work of one step of an LSTM or a GRU, and its gradient. The gates of an
LSTM are in the order input, forget, output, candidate; those of a GRU in PyTorch's order reset,
update, new. The cell state (`memory`) of an LSTM has the dtype of the weights. All other tensors
have the dtype of the matrix products.
"""

import math
from types import SimpleNamespace

import torch

from elmo_tasks.kernels.compiled import kernels


def step(
    gates: torch.Tensor,
    recurrent: torch.Tensor,
    memory: torch.Tensor,
    clip: float,
    hidden: torch.Tensor,
    memories: torch.Tensor | None = None,
) -> None:
    """
    Runs a step of an LSTM without the projection.

    # Parameters

    gates, recurrent: Shapes (rows, 4 * cell_dim): the gates before their activation are the sum of
        both. If `memories` is given, the values of the gates overwrite `gates`.
    memory: Shape (rows, cell_dim): the cell state. The new cell state overwrites it.
    clip: The bound on the absolute values of the cell state.
    hidden: Shape (rows, cell_dim): is overwritten with o tanh(memory).
    memories: Shape (rows, cell_dim): is overwritten with the new cell state. Needed for a gradient.
    """
    compiled = _kernels(gates, memory)
    if compiled is not None:
        compiled.step(*memory.shape, gates, recurrent, memory, clip, hidden, memories)
        return
    dim = memory.size(1)
    sums = gates.to(memory.dtype) + recurrent
    # tanh(x) is computed as 2 sigmoid(2x) - 1: PyTorch's sigmoid is ten times as fast.
    sums[:, 3 * dim :].mul_(2)
    i, f, o, g = sums.sigmoid_().split(dim, dim=1)
    g.mul_(2).sub_(1)
    memory.mul_(f).addcmul_(i, g)
    if clip < math.inf:
        memory.clamp_(-clip, clip)
    hidden.copy_(torch.mul(memory, 2).sigmoid_().mul_(2).sub_(1).mul_(o))
    if memories is not None:
        gates.copy_(sums)
        memories.copy_(memory)


def step_gradient(
    gates: torch.Tensor,
    memories: torch.Tensor,
    before: torch.Tensor,
    grad_hidden: torch.Tensor,
    grad_memory: torch.Tensor,
    clip: float,
    grad_gates: torch.Tensor,
    hidden: torch.Tensor,
) -> None:
    """
    Computes the gradient of `step`.

    # Parameters

    gates, memories: Shapes (rows, 4 * cell_dim) and (rows, cell_dim), as `step` filled them.
    before: Shape (rows, cell_dim): the cell state before the step.
    grad_hidden: Shape (rows, cell_dim): the gradient of `hidden`.
    grad_memory: Shape (rows, cell_dim): the part of the gradient of the new cell state that comes
        from later steps. The gradient of the cell state before the step overwrites it.
    clip: The bound on the absolute values of the cell state.
    grad_gates: Shape (rows, 4 * cell_dim): is overwritten with the gradient of the gates before
        activation.
    hidden: Shape (rows, cell_dim): is overwritten with o tanh(memory), computed again.
    """
    compiled = _kernels(gates, memories)
    if compiled is not None:
        after = gates, memories, before, grad_hidden, grad_memory
        compiled.step_gradient(*memories.shape, *after, clip, grad_gates, hidden)
        return
    i, f, o, g = gates.to(memories.dtype).chunk(4, dim=1)
    tanh, grad_hidden = torch.tanh(memories), grad_hidden.to(memories.dtype)
    hidden.copy_(tanh * o)
    grad_memory.addcmul_(grad_hidden * o, 1 - tanh * tanh)
    if clip < math.inf:
        grad_memory *= memories.abs() < clip
    parts = grad_gates.chunk(4, dim=1)
    parts[0].copy_((i - i * i).mul_(grad_memory).mul_(g))
    parts[1].copy_((f - f * f).mul_(grad_memory).mul_(before))
    parts[2].copy_((o - o * o).mul_(grad_hidden).mul_(tanh))
    parts[3].copy_((1 - g * g).mul_(grad_memory).mul_(i))
    grad_memory.mul_(f)


def gru_step(
    gates: torch.Tensor,
    recurrent: torch.Tensor,
    before: torch.Tensor,
    rz: torch.Tensor,
    n: torch.Tensor,
    h: torch.Tensor,
) -> None:
    """
    Runs a step of a GRU: h = (1 - z) * n + z * before, where n = tanh(gates_n + r * recurrent_n),
    and r and z are sigmoids of their parts of gates + recurrent.

    # Parameters

    gates, recurrent: Shapes (rows, 3 * hidden_size): the products of the inputs and of `before`.
    before: Shape (rows, hidden_size): the state before the step.
    rz, n, h: Are overwritten: `rz` and `n` with the gates, shapes (rows, 2 * hidden_size) and
        (rows, hidden_size), and `h` with the new state.
    """
    compiled = _kernels(h, h)
    if compiled is not None:
        compiled.gru_step(*h.shape, gates, recurrent, before, rz, n, h)
        return
    dim = h.size(1)
    torch.add(gates[:, : 2 * dim], recurrent[:, : 2 * dim], out=rz).sigmoid_()
    r, z = rz.split(dim, dim=1)
    # tanh(x) is computed as 2 sigmoid(2x) - 1: PyTorch's sigmoid is several times as fast.
    torch.addcmul(gates[:, 2 * dim :], r, recurrent[:, 2 * dim :], out=n)
    n.mul_(2).sigmoid_().mul_(2).sub_(1)
    torch.lerp(n, before, z, out=h)


def gru_gradient(
    rz: torch.Tensor,
    n: torch.Tensor,
    recurrent_n: torch.Tensor,
    before: torch.Tensor,
    grad_h: torch.Tensor,
    carried: torch.Tensor,
    grad_gates: torch.Tensor,
    grad_recurrent: torch.Tensor,
) -> None:
    """
    Computes the gradient of `gru_step`.

    # Parameters

    rz, n, before: As in `gru_step`.
    recurrent_n: Shape (rows, hidden_size): the last third of `recurrent`.
    grad_h: Shape (rows, hidden_size): the gradient of the new state as an output.
    carried: Shape (rows, hidden_size): the gradient of the new state from the next step. It is
        overwritten with the part of the gradient that the update gate passes on to `before`.
    grad_gates, grad_recurrent: Are overwritten with the gradients of `gates` and `recurrent`.
    """
    compiled = _kernels(n, n)
    if compiled is not None:
        compiled.gru_gradient(
            *n.shape, rz, n, recurrent_n, before, grad_h, carried, grad_gates, grad_recurrent
        )
        return
    dim = n.size(1)
    r, z = rz.split(dim, dim=1)
    grad = grad_h + carried
    by_r, by_z, by_n = grad_gates.split(dim, dim=1)
    by_n.copy_(grad * (1 - z) * (1 - n * n))
    by_r.copy_(by_n * recurrent_n * (r - r * r))
    by_z.copy_(grad * (before - n) * (z - z * z))
    grad_recurrent.copy_(grad_gates)
    grad_recurrent[:, 2 * dim :].mul_(r)
    torch.mul(grad, z, out=carried)


def _kernels(gates: torch.Tensor, memory: torch.Tensor) -> SimpleNamespace | None:
    if memory.dtype != torch.float32:
        return None
    return kernels(gates.device.type, gates.dtype)
