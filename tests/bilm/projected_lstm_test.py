from collections.abc import Sequence

import pytest
import torch
from torch.nn.functional import linear

from elmo_tasks.bilm.projected_lstm import ProjectedLstm
from elmo_tasks.bilm.state import LstmState
from tests.helpers.largest_tensor import LargestTensor

BATCH_SIZES = [5, 5, 3, 3, 1, 1, 1]
# Neither bound, either bound, and both. About half of the values reach them.
BOUNDS = pytest.mark.parametrize(
    "bounds", [(None, None), (0.4, None), (None, 0.3), (0.4, 0.3)], ids=str
)


def random_lstm(
    cell_clip: float | None = None, projection_clip: float | None = None
) -> ProjectedLstm:
    torch.manual_seed(0)
    lstm = ProjectedLstm(4, 6, 3, cell_clip, projection_clip)
    for parameter in lstm.parameters():
        torch.nn.init.uniform_(parameter, -1, 1)
    return lstm.double()


def random_inputs(
    batch_sizes: list[int] = BATCH_SIZES, dtype: torch.dtype = torch.float64
) -> tuple[torch.Tensor, LstmState]:
    torch.manual_seed(1)
    inputs = 2 * torch.randn(sum(batch_sizes), 4, dtype=dtype)
    rows = max(batch_sizes, default=0)
    state = LstmState(
        torch.rand(rows, 3, dtype=dtype) - 0.5, torch.rand(rows, 6, dtype=dtype) - 0.5
    )
    return inputs.requires_grad_(), state


def plain(
    lstm: ProjectedLstm, inputs: torch.Tensor, batch_sizes: list[int], state: LstmState
) -> tuple[torch.Tensor, LstmState]:
    """Computes the LSTM one row and one step at a time; autograd computes its gradients."""
    outputs = [torch.empty(0)] * len(inputs)
    ends = []
    for row, (h, c) in enumerate(zip(state.h, state.c, strict=True)):
        for step, alive in enumerate(batch_sizes):
            if row >= alive:
                break
            index = sum(batch_sizes[:step]) + row
            gates = linear(inputs[index], lstm.input_weight) + linear(h, lstm.recurrent_weight)
            i, f, o, g = (gates + lstm.bias).chunk(4)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            c = c.clamp(-lstm.cell_clip, lstm.cell_clip)
            h = linear(torch.sigmoid(o) * torch.tanh(c), lstm.projection_weight)
            h = h.clamp(-lstm.projection_clip, lstm.projection_clip)
            outputs[index] = h
        ends.append((h, c))
    h, c = (torch.stack(part) for part in zip(*ends, strict=True))
    return torch.stack(outputs), LstmState(h, c)


def gradients(outputs: torch.Tensor, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Returns the gradients of a weighted sum of the outputs, with fixed weights."""
    weights = torch.linspace(-1, 1, outputs.numel()).reshape(outputs.shape).to(outputs)
    return torch.autograd.grad((outputs * weights).sum(), list(tensors))


@BOUNDS
@pytest.mark.parametrize("batch_sizes", [BATCH_SIZES, [1], [4], [1] * 6, [2] * 3, [7, 1]], ids=str)
def test_it_equals_a_plain_loop(bounds: tuple, batch_sizes: list[int]) -> None:
    lstm, (inputs, state) = random_lstm(*bounds), random_inputs(batch_sizes)

    outputs, last = lstm(inputs, batch_sizes, state)
    expected, expected_last = plain(lstm, inputs, batch_sizes, state)

    torch.testing.assert_close(outputs, expected)
    torch.testing.assert_close(last, expected_last)
    tensors = [inputs, *lstm.parameters()]
    torch.testing.assert_close(gradients(outputs, tensors), gradients(expected, tensors))


def test_the_bounds_of_these_tests_are_reached_by_some_values_and_not_by_others() -> None:
    lstm, (inputs, state) = random_lstm(0.4, 0.3), random_inputs()

    outputs, last = lstm(inputs, BATCH_SIZES, state)

    for values, bound in ((outputs, 0.3), (last.c, 0.4)):
        assert 0.1 < (values.abs() == bound).double().mean() < 0.9


def test_a_gradient_of_its_gradient_is_refused_and_not_wrong() -> None:
    lstm, (inputs, state) = random_lstm(), random_inputs()
    outputs, _ = lstm(inputs, BATCH_SIZES, state)
    (gradient,) = torch.autograd.grad(outputs.square().sum(), inputs, create_graph=True)

    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_a_tensor_that_trains_alone_has_the_same_gradient_as_among_all() -> None:
    lstm, (inputs, state) = random_lstm(0.4, 0.3), random_inputs()
    tensors = dict(inputs=inputs, **dict(lstm.named_parameters()))
    outputs, _ = lstm(inputs, BATCH_SIZES, state)
    expected = gradients(outputs, list(tensors.values()))

    for (name, tensor), gradient in zip(tensors.items(), expected, strict=True):
        for other in tensors.values():
            other.requires_grad_(other is tensor)
        outputs, _ = lstm(inputs, BATCH_SIZES, state)
        torch.testing.assert_close(gradients(outputs, [tensor])[0], gradient, msg=name)


def test_the_state_before_is_not_changed_and_gets_no_gradient() -> None:
    lstm, (inputs, state) = random_lstm(), random_inputs()
    before = LstmState(*(part.clone() for part in state))
    for part in state:
        part.requires_grad_()

    outputs, last = lstm(inputs, BATCH_SIZES, state)
    outputs.sum().backward()

    for part, was, after in zip(state, before, last, strict=True):
        assert torch.equal(part, was)
        assert part.grad is None and not after.requires_grad


def test_outputs_are_the_same_whether_it_trains_or_not() -> None:
    lstm, (inputs, state) = random_lstm(0.4, 0.3), random_inputs()

    trained, last = lstm(inputs, BATCH_SIZES, state)
    with torch.no_grad():
        evaluated, _ = lstm(inputs, BATCH_SIZES, state)
        lstm.freeze()
        frozen, frozen_last = lstm(inputs, BATCH_SIZES, state)

    assert trained.requires_grad and not evaluated.requires_grad
    # The products may come from another library, and are equal except for rounding.
    for outputs in (evaluated, frozen):
        torch.testing.assert_close(trained.detach(), outputs, rtol=0, atol=1e-6)
    torch.testing.assert_close(last, frozen_last, rtol=0, atol=1e-6)


@BOUNDS
def test_under_autocast_it_is_close_and_keeps_the_dtype(bounds: tuple) -> None:
    lstm = random_lstm(*bounds).float()
    inputs, state = random_inputs(dtype=torch.float32)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs, last = lstm(inputs, BATCH_SIZES, state)
    expected, expected_last = plain(lstm, inputs, BATCH_SIZES, state)

    torch.testing.assert_close(outputs, expected, atol=0.03, rtol=0)
    torch.testing.assert_close(last, expected_last, atol=0.03, rtol=0)
    tensors = [inputs, *lstm.parameters()]
    for found, exact in zip(gradients(outputs, tensors), gradients(expected, tensors), strict=True):
        assert found.dtype == torch.float32
        assert torch.linalg.norm(found - exact) < 0.05 * torch.linalg.norm(exact)


def test_under_autocast_an_output_at_its_bound_passes_no_gradient() -> None:
    # bfloat16 rounds this bound down.
    lstm = random_lstm(projection_clip=0.7).float()
    torch.nn.init.constant_(lstm.projection_weight, 9)
    inputs, state = random_inputs(dtype=torch.float32)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs, _ = lstm(inputs, BATCH_SIZES, state)

    (gradient,) = gradients(outputs[5:10], [inputs])
    bounded = (outputs[5:10].detach().abs() == torch.tensor(0.7).bfloat16()).all(dim=1)
    assert bounded.any()
    assert not gradient[5:10][bounded].any()


def test_new_weights_are_drawn_as_tensorflow_draws_them() -> None:
    lstm = ProjectedLstm(20, 30, 10)

    # Glorot's uniform draw of the matrices (input and recurrent, gates) and (memory, projection).
    for weights, bound in (
        ((lstm.input_weight, lstm.recurrent_weight), (6 / (20 + 10 + 4 * 30)) ** 0.5),
        ((lstm.projection_weight,), (6 / (30 + 10)) ** 0.5),
    ):
        for weight in weights:
            assert 0.95 * bound < weight.abs().max() <= bound
    # TensorFlow adds the 1 of the forget gate when it runs.
    i, f, o, g = lstm.bias.chunk(4)
    assert f.eq(1).all() and not i.any() and not o.any() and not g.any()


def test_frozen_inputs_are_multiplied_several_steps_at_a_time() -> None:
    batch_sizes, gates = [200] * 100, 4 * 64
    lstm = ProjectedLstm(1, 64, 1)
    lstm.freeze()
    state = LstmState(torch.zeros(200, 1), torch.zeros(200, 64))

    with torch.no_grad(), LargestTensor() as largest:
        lstm(torch.randn(sum(batch_sizes), 1), batch_sizes, state)

    assert 2 * 200 * gates <= largest.size <= sum(batch_sizes) * gates / 2
