from collections.abc import Callable

import pytest
import torch
from allennlp.modules import Seq2SeqEncoder

from elmo_tasks.modules.packed_encoder import ElmoGru, ElmoLstm
from tests.helpers.gradients import results

Pair = Callable[[int, int], tuple[Seq2SeqEncoder, Seq2SeqEncoder]]


@pytest.fixture(params=[("gru", ElmoGru), ("lstm", ElmoLstm)], ids=["gru", "lstm"])
def pair(request: pytest.FixtureRequest) -> Pair:
    """Returns a function that makes AllenNLP's encoder and ours, with the same weights."""
    name, kind = request.param

    def make(input_size: int, hidden_size: int) -> tuple[Seq2SeqEncoder, Seq2SeqEncoder]:
        torch.manual_seed(0)
        theirs = Seq2SeqEncoder.by_name(name)(input_size, hidden_size, bidirectional=True)
        ours = kind(input_size, hidden_size)
        ours.load_state_dict(theirs.state_dict())
        return theirs.double(), ours.double()

    return make


@pytest.mark.parametrize("lengths", [[5, 5], [7, 1, 3, 6], [1], [2, 4, 4]])
def test_output_and_gradients_are_those_of_pytorchs(pair: Pair, lengths: list[int]) -> None:
    theirs, ours = pair(3, 5)
    # A batch may be padded to more than its longest text.
    mask = torch.arange(8) < torch.tensor(lengths).unsqueeze(1)
    x = torch.randn(len(lengths), 8, 3).double()

    torch.testing.assert_close(results(ours, x, mask), results(theirs, x, mask))


def test_output_and_gradients_in_float32_are_those_of_pytorchs_up_to_rounding(pair: Pair) -> None:
    theirs, ours = (encoder.float() for encoder in pair(6, 37))
    # More rows and tokens than the products read at once, steps of many numbers of rows, and a
    # width that leaves a rest beside the CPU's vectors.
    mask = torch.arange(20) < torch.arange(50).remainder(20).add(1).unsqueeze(1)
    x = torch.randn(50, 20, 6)

    found, expected = results(ours, x, mask), results(theirs, x, mask)

    torch.testing.assert_close(found, expected, atol=2e-6, rtol=1e-5)
