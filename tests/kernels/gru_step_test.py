import pytest
import torch

from elmo_tasks.kernels import gru_step as module
from elmo_tasks.kernels.gru_step import gru_gradient, gru_step


@pytest.fixture(params=["compiled functions", "PyTorch's operators"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "compiled functions":
        monkeypatch.setattr(module, "kernels", lambda device, dtype: None)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(("rows", "dim"), [(1, 1), (3, 37)])
def test_a_step_and_its_gradient_are_those_of_autograd_in_float64(rows: int, dim: int) -> None:
    torch.manual_seed(0)
    gates, recurrent, before = (torch.randn(rows, width) for width in (3 * dim, 3 * dim, dim))
    grad_h, carried = torch.randn(2, rows, dim)
    wide = [each.double().requires_grad_() for each in (gates, recurrent, before)]
    x, u, last = (each.split(dim, dim=1) for each in wide)
    r, z = torch.sigmoid(x[0] + u[0]), torch.sigmoid(x[1] + u[1])
    new = torch.tanh(x[2] + r * u[2])
    state = (1 - z) * new + z * last[0]
    state.backward((grad_h + carried).double())
    grads = [each.grad for each in wide]

    rz, n, h = (torch.empty(rows, width) for width in (2 * dim, dim, dim))
    gru_step(gates, recurrent, before, rz, n, h)
    grad_gates, grad_recurrent = torch.empty(2, rows, 3 * dim)
    u_n = recurrent[:, 2 * dim :].contiguous()
    gru_gradient(rz, n, u_n, before, grad_h, carried, grad_gates, grad_recurrent)

    found = (torch.cat([rz, n], dim=1), h, grad_gates, grad_recurrent, carried)
    expected = (torch.cat([r, z, new], dim=1), state, *grads)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs.float(), atol=1e-6, rtol=1e-5)
