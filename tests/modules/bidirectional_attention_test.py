import numpy as np
import torch

from elmo_tasks.modules.bidirectional_attention import BidirectionalAttention
from tests.helpers.numpy_layers import softmax


def test_it_is_that_of_the_equations_over_the_words_alone() -> None:
    torch.manual_seed(0)
    attention = BidirectionalAttention(4).double()
    p, q = 3 * torch.randn(3, 6, 4).double(), 3 * torch.randn(3, 5, 4).double()
    lengths = [(6, 5), (4, 1), (1, 3)]
    p_mask = torch.arange(6) < torch.tensor([[n] for n, _ in lengths])
    q_mask = torch.arange(5) < torch.tensor([[m] for _, m in lengths])

    with torch.no_grad():
        attended, weights = attention(p, q, p_mask, q_mask)

    assert attended.shape == (3, 6, attention.get_output_dim())
    w = [each.detach().numpy()[0] for each in attention.score.parameters()]
    names = [name for name, _ in attention.score.named_parameters()]
    w_p, w_q, w_pq = (w[names.index(name)] for name in ("p.weight", "q.weight", "product"))
    for row, (n, m) in enumerate(lengths):
        words, asked = p[row, :n].numpy(), q[row, :m].numpy()
        scores = (words @ w_p)[:, None] + asked @ w_q + (words * w_pq) @ asked.T
        c2q = softmax(scores) @ asked
        q2c = softmax(scores.max(axis=1)) @ words
        expected = np.concatenate([words, c2q, words * c2q, words * q2c], axis=1)
        np.testing.assert_allclose(attended[row, :n].numpy(), expected)
        np.testing.assert_allclose(weights[row, :n, :m].numpy(), softmax(scores))
        assert not weights[row, :n, m:].any()


def test_padding_has_no_part_where_all_scores_are_far_below_zero() -> None:
    attention = BidirectionalAttention(2)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.fill_(-1000.0)
    p, q = torch.ones(1, 3, 2), torch.ones(1, 3, 2)
    p[0, 2], q[0, 1:] = 7, 7
    mask = torch.tensor([[True, True, False]])

    attended, weights = attention(p, q, mask, torch.tensor([[True, False, False]]))

    assert torch.equal(weights[0, :2], torch.tensor([[1.0, 0, 0], [1, 0, 0]]))
    assert torch.equal(attended[0, :2], torch.ones(2, 8))
