import numpy as np
import pytest
import torch

from elmo_tasks.modules import self_attention
from elmo_tasks.modules.self_attention import SelfAttention
from tests.helpers.largest_tensor import LargestTensor


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
    monkeypatch.setattr(self_attention, "_MAX_SCORES", 3 * mask.numel())

    # The rows are computed at once if there is a gradient.
    at_once = attention(x, mask)
    with torch.no_grad(), LargestTensor() as largest:
        few_at_a_time = attention(x, mask)

    torch.testing.assert_close(few_at_a_time, at_once)
    # All scores would be 2 * 7 * 7 numbers.
    assert largest.size < 2 * 7 * 7
