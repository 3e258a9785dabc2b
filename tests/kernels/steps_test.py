import functools
import math
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.kernels import steps
from elmo_tasks.kernels.compiled import kernels
from elmo_tasks.kernels.steps import step, step_gradient

CLIPS = st.sampled_from([math.inf, 3.0, 0.5, 0.05])
# Widths around those of the CPU's vectors, and no rows at all.
WIDTHS = st.sampled_from([1, 7, 8, 15, 16, 17, 32, 33, 64, 100])


@pytest.fixture(params=["native", "pytorch"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Runs a test with the compiled functions and with PyTorch's operators."""
    if request.param == "pytorch":
        monkeypatch.setattr(steps, "kernels", lambda *_: None)
    elif kernels("cpu", torch.float32) is None:
        pytest.skip("the kernels are switched off or were not compiled")
    yield request.param


def reference(
    sums: torch.Tensor, memory: torch.Tensor, clip: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the hidden vectors and the memories; autograd computes their gradients."""
    i, f, o, g = sums.chunk(4, dim=1)
    c = torch.sigmoid(f) * memory + torch.sigmoid(i) * torch.tanh(g)
    c = c.clamp(-clip, clip)
    return torch.sigmoid(o) * torch.tanh(c), c


def draw(rows: int, dim: int, seed: int, dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    randn = functools.partial(torch.randn, generator=generator)
    gates, recurrent = (3 * randn(rows, 4 * dim).to(dtype) for _ in range(2))
    return [gates, recurrent, randn(rows, dim), randn(rows, dim).to(dtype), randn(rows, dim)]


def check(rows: int, dim: int, clip: float, seed: int, dtype: torch.dtype) -> None:
    gates, recurrent, memory, grad_hidden, grad_memory = draw(rows, dim, seed, dtype)
    sums = (gates.double() + recurrent.double()).requires_grad_()
    before = memory.double().requires_grad_()
    expected, expected_memory = reference(sums, before, clip)
    torch.autograd.backward(
        (expected, expected_memory), (grad_hidden.double(), grad_memory.double())
    )

    now, hidden, memories = memory.clone(), gates.new_empty(rows, dim), torch.empty(rows, dim)
    step(gates, recurrent, now, clip, hidden, memories)
    grad_gates, projected = torch.empty_like(gates), torch.empty_like(hidden)
    step_gradient(gates, memories, memory, grad_hidden, grad_memory, clip, grad_gates, projected)

    # A float32 here differs by a few roundings of numbers of at most 8. A bfloat16 is rounded
    # once, and its gradient is that of the rounded gates.
    single = {"rtol": 1e-5, "atol": 3e-6}
    half = {"rtol": 2**-8, "atol": 0.06} if dtype == torch.bfloat16 else single
    rounded = {"rtol": 2**-8, "atol": 1e-6} if dtype == torch.bfloat16 else single
    torch.testing.assert_close(now.double(), expected_memory, **single)
    assert torch.equal(now, memories)
    torch.testing.assert_close(hidden.double(), expected, **rounded)
    torch.testing.assert_close(projected.double(), expected, **half)
    inside = (expected_memory.abs() - clip).abs() > 1e-5
    torch.testing.assert_close(
        (grad_gates.double() - sums.grad) * inside.repeat(1, 4), 0 * sums.grad, **half
    )
    torch.testing.assert_close(
        (grad_memory.double() - before.grad) * inside, 0 * before.grad, **half
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_step_and_its_gradient_equal_those_of_autograd(path: str, dtype: torch.dtype) -> None:
    @settings(max_examples=30, deadline=None, derandomize=True)
    @given(st.integers(0, 5), WIDTHS, CLIPS, st.integers(0, 1000))
    def run(rows: int, dim: int, clip: float, seed: int) -> None:
        check(rows, dim, clip, seed, dtype)

    run()
