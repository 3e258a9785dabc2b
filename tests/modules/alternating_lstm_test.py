from typing import Any

import pytest
import torch
from allennlp.modules import Seq2SeqEncoder
from allennlp.modules.seq2seq_encoders import StackedAlternatingLstmSeq2SeqEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.modules import alternating_lstm
from elmo_tasks.modules.alternating_lstm import ElmoAlternatingLstm
from tests.helpers.gradients import results


def pair(
    input_size: int, hidden_size: int, num_layers: int, dropout: float = 0.0
) -> tuple[Any, ElmoAlternatingLstm]:
    """Returns AllenNLP's encoder and ours, with the same weights."""
    torch.manual_seed(0)
    sizes = (input_size, hidden_size, num_layers, dropout)
    theirs = StackedAlternatingLstmSeq2SeqEncoder(*sizes, use_input_projection_bias=False).double()
    ours = ElmoAlternatingLstm(*sizes).double()
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


@settings(max_examples=15, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=20),
    padding=st.integers(0, 2),
    num_layers=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
def test_output_and_gradients_are_those_of_allennlps(
    lengths: list[int], padding: int, num_layers: int, seed: int
) -> None:
    theirs, ours = pair(3, 4, num_layers)
    width = max(lengths) + padding
    mask = torch.arange(width) < torch.tensor(lengths).unsqueeze(1)
    torch.manual_seed(seed)
    x = torch.randn(len(lengths), width, 3, dtype=torch.double)

    torch.testing.assert_close(results(ours, x, mask), results(theirs, x, mask))


def test_dropout_has_one_mask_for_all_steps_as_allennlps(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = pair(3, 4, 2, dropout=0.5)
    mask = torch.arange(6) < torch.tensor([6, 4, 5, 1]).unsqueeze(1)
    x = torch.randn(4, 6, 3, dtype=torch.double)
    # Both draw a mask for each layer, of which ours has rows for windows of 16 as well.
    masks = torch.bernoulli(torch.full((2, 16, 4), 0.5, dtype=torch.double)) * 2

    found = []
    for encoder, module in (
        (theirs, "allennlp.modules.augmented_lstm"),
        (ours, alternating_lstm.__name__),
    ):
        drawn = iter(masks)
        monkeypatch.setattr(
            f"{module}.get_dropout_mask", lambda _, like, drawn=drawn: next(drawn)[: len(like)]
        )
        found.append(results(encoder.train(), x, mask))

    torch.testing.assert_close(*found)


def test_dropout_is_drawn_anew_in_training_and_off_in_evaluation() -> None:
    _, ours = pair(3, 4, 2, dropout=0.5)
    x, mask = torch.randn(2, 5, 3).double(), torch.ones(2, 5, dtype=torch.bool)

    assert not torch.equal(ours.train()(x, mask), ours(x, mask))
    assert torch.equal(ours.eval()(x, mask), ours(x, mask))
    torch.testing.assert_close(ours(x, mask), pair(3, 4, 2)[0](x, mask))


def test_output_and_gradients_in_float32_are_those_of_allennlps_up_to_rounding() -> None:
    theirs, ours = (encoder.float() for encoder in pair(6, 16, 3))
    # More rows and tokens than the products read at once, and steps of many numbers of rows.
    mask = torch.arange(20) < torch.arange(50).remainder(20).add(1).unsqueeze(1)
    x = torch.randn(50, 20, 6)

    found, expected = results(ours, x, mask), results(theirs, x, mask)

    torch.testing.assert_close(found, expected, atol=2e-6, rtol=1e-4)


def test_states_stay_in_float32_in_mixed_precision() -> None:
    _, ours = pair(6, 16, 2)
    ours.float()
    mask = torch.arange(9) < torch.tensor([9, 4, 1]).unsqueeze(1)
    x = torch.randn(3, 9, 6)

    expected = results(ours, x, mask)
    with torch.autocast("cpu", torch.bfloat16):
        found = results(ours, x, mask)

    for one, other in zip(expected, found, strict=True):
        assert other.dtype == torch.float32
        torch.testing.assert_close(other, one, atol=0.05 * one.abs().max().item(), rtol=0)


def test_weights_start_orthogonal_and_forget_gates_open() -> None:
    torch.manual_seed(0)
    encoder = Seq2SeqEncoder.by_name("elmo_alternating_lstm")(
        input_size=7, hidden_size=5, num_layers=2, recurrent_dropout_probability=0.1
    )

    assert (encoder.get_input_dim(), encoder.get_output_dim()) == (7, 5)
    for name, parameter in encoder.named_parameters():
        if name.endswith("weight"):
            for block in parameter.split(5):
                torch.testing.assert_close(block @ block.T, torch.eye(5), atol=1e-5, rtol=0)
        else:
            assert parameter.tolist() == [0] * 5 + [1] * 5 + [0] * 15
