import torch
from allennlp.modules.seq2seq_encoders import LstmSeq2SeqEncoder

from elmo_tasks.modules.encode_together import encode_together


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
