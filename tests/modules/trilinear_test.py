import math

import pytest
import torch

from elmo_tasks.modules.trilinear import TrilinearScore
from tests.helpers.largest_tensor import LargestTensor


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
