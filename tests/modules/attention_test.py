import math

import numpy as np
import pytest
import torch

from elmo_tasks.modules import attention as attention_module
from elmo_tasks.modules.attention import BidirectionalAttention, SelfAttention, TrilinearScore
from tests.helpers.largest_tensor import LargestTensor
from tests.helpers.numpy_layers import softmax


def test_scores_are_those_of_the_concatenation() -> None:
    torch.manual_seed(0)
    score = TrilinearScore(4).double()
    p, q = torch.randn(2, 5, 4).double(), torch.randn(2, 3, 4).double()
    weights = torch.cat([score.p.weight, score.q.weight, score.product], dim=1)

    scores = score(p, q)

    for row in range(2):
        for i in range(5):
            for j in range(3):
                pair = torch.cat([p[row, i], q[row, j], p[row, i] * q[row, j]])
                torch.testing.assert_close(scores[row, i, j], pair @ weights[0])


def test_nothing_of_the_width_of_all_pairs_is_made() -> None:
    batch, rows, columns, dim = 2, 64, 32, 48

    with LargestTensor() as largest:
        TrilinearScore(dim)(torch.randn(batch, rows, dim), torch.randn(batch, columns, dim))

    # The largest tensor is the scores or a text; all pairs would have 48 times as many numbers.
    assert 0 < largest.size <= max(batch * rows * columns, batch * rows * dim)


def test_weights_are_drawn_as_keras_draws_the_vectors_of_document_qa() -> None:
    """
    Document-qa has three vectors with `glorot_uniform`. For one dimension both fans are its width,
    so that the limit, sqrt(6 / (fan_in + fan_out)), is sqrt(3 / width). A uniform distribution has
    the standard deviation limit / sqrt(3).
    """
    torch.manual_seed(0)
    score = TrilinearScore(10_000)
    limit = math.sqrt(6 / (10_000 + 10_000))

    for weight in (score.p.weight, score.q.weight, score.product):
        assert 0.99 * limit < weight.abs().max() <= limit
        assert weight.std().item() == pytest.approx(limit / math.sqrt(3), rel=0.02)


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


def built(dim: int = 4) -> SelfAttention:
    torch.manual_seed(0)
    return SelfAttention(dim).double()


def found_by_hand(attention: SelfAttention, x: np.ndarray) -> np.ndarray:
    """
    Computes the mean of a passage's tokens, weighted by exp(score) over the sum of these and
    exp(null logit). The passage has no padding.
    """
    score = attention.score
    w_p, w_q = score.p.weight.detach().numpy()[0], score.q.weight.detach().numpy()[0]
    w_pq, b = score.product.detach().numpy()[0], attention.null_logit.item()
    scores = (x @ w_p)[:, None] + x @ w_q + (x * w_pq) @ x.T
    e = np.exp(scores)
    np.fill_diagonal(e, 0)
    return (e / (e.sum(axis=1, keepdims=True) + np.exp(b))) @ x


def test_it_is_a_softmax_with_a_null_logit_and_without_the_diagonal() -> None:
    attention = built()
    x, lengths = 2 * torch.randn(3, 6, 4).double(), [6, 3, 2]
    mask = torch.arange(6) < torch.tensor(lengths).unsqueeze(1)

    found = attention(x, mask).detach()

    for row, length in enumerate(lengths):
        expected = found_by_hand(attention, x[row, :length].numpy())
        np.testing.assert_allclose(found[row, :length].numpy(), expected)


def test_null_logit_is_minus_one_at_first_and_learned() -> None:
    attention = built()
    first = attention.null_logit.item()

    attention(torch.randn(1, 3, 4).double(), torch.ones(1, 3, dtype=torch.bool)).sum().backward()

    assert first == -1
    assert attention.null_logit.grad is not None and attention.null_logit.grad.any()


def test_single_token_finds_nothing() -> None:
    attention = built()
    x = torch.randn(1, 2, 4, dtype=torch.double, requires_grad=True)

    found = attention(x, torch.tensor([[True, False]]))
    found[0, 0].sum().backward()

    assert not found[0, 0].any()
    assert x.grad is not None and x.grad.isfinite().all()


@pytest.mark.parametrize("scale", [100.0, -100.0])
def test_large_scores_overflow_nowhere(scale: float) -> None:
    attention = SelfAttention(4)
    with torch.no_grad():
        attention.score.product.fill_(scale)
    x = (10 * torch.ones(1, 3, 4)).requires_grad_()

    found = attention(x, torch.ones(1, 3, dtype=torch.bool))
    found.sum().backward()

    # With scores of 40,000 a token finds the others alone, with scores of -40,000 nothing.
    expected = x if scale > 0 else torch.zeros_like(x)
    assert torch.equal(found, expected)
    assert x.grad is not None and x.grad.isfinite().all()


def test_a_few_rows_at_a_time_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    attention, x = built(), torch.randn(2, 7, 4).double()
    mask = torch.arange(7) < torch.tensor([[7], [5]])
    monkeypatch.setattr(attention_module, "_MAX_SCORES", 3 * mask.numel())

    # The rows are computed at once if there is a gradient.
    at_once = attention(x, mask)
    with torch.no_grad(), LargestTensor() as largest:
        few_at_a_time = attention(x, mask)

    torch.testing.assert_close(few_at_a_time, at_once)
    # All scores would be 2 * 7 * 7 numbers.
    assert largest.size < 2 * 7 * 7
