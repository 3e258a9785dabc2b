import pytest
import torch

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.lstm_stack import LstmStack
from elmo_tasks.bilm.state import LstmState
from tests.helpers.reference_bilm import make_options

BATCH_SIZES = [3, 3, 2, 1]


def stack_and_inputs(
    dropout: float = 0.0, skip: bool = True
) -> tuple[LstmStack, torch.Tensor, LstmState]:
    torch.manual_seed(0)
    options = BiLmOptions.from_dict(make_options(n_layers=3, use_skip_connections=skip))
    state = LstmState(torch.randn(3, 3, 6), torch.randn(3, 3, 9))
    return LstmStack(options, dropout), torch.randn(sum(BATCH_SIZES), 6), state


def layer_by_layer(
    stack: LstmStack, inputs: torch.Tensor, state: LstmState, skip: bool
) -> list[torch.Tensor]:
    """Computes the outputs from the layers of the stack, which `projected_lstm_test.py` tests."""
    outputs = []
    for j, layer in enumerate(stack.layers):
        output, _ = layer(inputs, BATCH_SIZES, LstmState(state.h[j], state.c[j]))
        inputs = output + inputs if skip and j > 0 else output
        outputs.append(inputs)
    return outputs


@pytest.mark.parametrize("skip", [True, False])
def test_from_the_second_layer_on_the_input_is_added_to_the_output(skip: bool) -> None:
    stack, inputs, state = stack_and_inputs(skip=skip)

    outputs, _ = stack(inputs, BATCH_SIZES, state)

    torch.testing.assert_close(outputs, layer_by_layer(stack, inputs, state, skip))


def test_the_last_state_of_a_layer_does_not_include_the_skip_connection() -> None:
    stack, inputs, state = stack_and_inputs()

    (_, second, _), after = stack(inputs, BATCH_SIZES, state)

    for j, layer_inputs in ((0, inputs), (2, second)):
        start = LstmState(state.h[j], state.c[j])
        _, expected = stack.layers[j](layer_inputs, BATCH_SIZES, start)
        torch.testing.assert_close(LstmState(after.h[j], after.c[j]), expected)


def test_dropout_is_on_the_input_of_every_layer_and_of_its_skip_connection_while_training() -> None:
    stack, inputs, state = stack_and_inputs(dropout=1.0)
    nothing = torch.zeros_like(inputs)

    dropped, _ = stack.train()(inputs, BATCH_SIZES, state)
    kept, _ = stack.eval()(inputs, BATCH_SIZES, state)

    for j, layer in enumerate(stack.layers):
        start = LstmState(state.h[j], state.c[j])
        torch.testing.assert_close(dropped[j], layer(nothing, BATCH_SIZES, start)[0])
    torch.testing.assert_close(kept, layer_by_layer(stack, inputs, state, skip=True))
