import math

import pytest
import torch

from elmo_tasks.modules import attention as attention_module
from elmo_tasks.modules.attention import BidirectionalAttention, SelfAttention, TrilinearScore
from tests.helpers.largest_tensor import LargestTensor


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


def test_padding_has_no_part_where_all_scores_are_far_below_zero() -> None:
    attention = BidirectionalAttention(2)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.fill_(-1000.0)
    p, q = torch.ones(1, 3, 2), torch.ones(1, 3, 2)
    p[0, 2], q[0, 1:] = 7, 7
    mask = torch.tensor([[True, True, False]])

    attended = attention(p, q, mask, torch.tensor([[True, False, False]]))

    assert torch.equal(attended[0, :2], torch.ones(2, 8))


def built(dim: int = 4) -> SelfAttention:
    torch.manual_seed(0)
    return SelfAttention(dim).double()


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
