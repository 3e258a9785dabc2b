import pytest
import torch
from allennlp.modules.seq2seq_encoders import LstmSeq2SeqEncoder

from elmo_tasks.modules.recurrent import Steps, encode_together


def test_texts_of_several_lengths_are_encoded_as_each_alone() -> None:
    torch.manual_seed(0)
    encoder = LstmSeq2SeqEncoder(3, 4, bidirectional=True).double()
    texts = [torch.randn(2, length, 3).double() for length in (5, 2)]
    masks = [
        torch.tensor([[True] * 5, [True] * 3 + [False] * 2]),
        torch.tensor([[True, False], [True, True]]),
    ]

    together = encode_together(encoder, texts, masks)

    for h, text, mask in zip(together, texts, masks, strict=True):
        torch.testing.assert_close(h, encoder(text, mask))


@pytest.mark.parametrize("sizes", [[], [3], [3, 2, 2, 1]])
def test_state_before_a_token_is_that_of_its_row_in_the_step_before(sizes: list[int]) -> None:
    # A state names its step and its row.
    states = torch.tensor(
        [(step + 1.0, row) for step, size in enumerate(sizes) for row in range(size)]
    ).view(-1, 2)

    before = Steps(sizes).before(states)

    expected = [
        (step, row if step else 0.0) for step, row in (states - torch.tensor([1, 0])).tolist()
    ]
    assert before.tolist() == [list(each) for each in expected]
