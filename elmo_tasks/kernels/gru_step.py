"""
The element-wise work of a step of a GRU, and its gradient. The gates are in PyTorch's order reset,
update, new.
"""

import torch

from elmo_tasks.kernels.compiled import kernels


def gru_step(
    gates: torch.Tensor,
    recurrent: torch.Tensor,
    before: torch.Tensor,
    rz: torch.Tensor,
    n: torch.Tensor,
    h: torch.Tensor,
) -> None:
    """
    Runs a step: n = tanh(gates_n + r * recurrent_n) and h = (1 - z) * n + z * before, where r and z
    are sigmoids of their parts of gates + recurrent.

    # Parameters

    gates, recurrent: Shapes (rows, 3 * hidden_size): the products of inputs and state.
    before: Shape (rows, hidden_size): the state before the step.
    rz, n, h: Receive the gates, shapes (rows, 2 * hidden_size) and (rows, hidden_size), and the new
        state.
    """
    compiled = kernels(h.device.type, h.dtype)
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
    Computes the gradient of a step.

    # Parameters

    rz, n, before: As in `gru_step`.
    recurrent_n: Shape (rows, hidden_size): the last third of `recurrent`.
    grad_h: Shape (rows, hidden_size): the gradient of the new state as an output.
    carried: Shape (rows, hidden_size): the gradient of the new state from the next step; becomes
        the gradient of `before` through the update gate.
    grad_gates, grad_recurrent: Receive the gradients of `gates` and `recurrent`.
    """
    compiled = kernels(n.device.type, n.dtype)
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
