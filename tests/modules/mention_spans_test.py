from itertools import combinations
from random import Random

import numpy
import pytest
import torch

from elmo_tasks.modules.mention_spans import SpanRepresentation, candidate_spans, choose_spans


def test_candidates_are_the_short_spans_within_a_sentence() -> None:
    spans = candidate_spans([3, 1, 2], 2)

    found = [f"{first}{last}" for first, last in spans.tolist()]
    assert found == "00 01 11 12 22 33 44 45 55".split()


def crosses(one: list[int], other: list[int]) -> bool:
    shared = set(range(one[0], one[1] + 1)) & set(range(other[0], other[1] + 1))
    return bool(shared) and len(shared) < min(one[1] - one[0], other[1] - other[0]) + 1


def by_comparing_all(spans: list[list[int]], scores: list[float], num_spans: int) -> list[int]:
    chosen: list[int] = []
    for index in sorted(range(len(spans)), key=lambda each: -scores[each]):
        if len(chosen) < num_spans and not any(crosses(spans[index], spans[i]) for i in chosen):
            chosen.append(index)
    return sorted(chosen)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_spans_that_cross_no_better_one_are_chosen(seed: int) -> None:
    random = Random(seed)
    spans = candidate_spans([random.randint(1, 9) for _ in range(3)], random.randint(1, 6))
    scores = [random.random() for _ in spans]
    num_spans = random.randint(1, len(spans))

    chosen = choose_spans(spans, torch.tensor(scores), num_spans).tolist()

    assert chosen == by_comparing_all(spans.tolist(), scores, num_spans)
    pairs = combinations(spans[chosen].tolist(), 2)
    assert not any(crosses(one, other) for one, other in pairs)


def test_the_first_of_equal_scores_is_chosen() -> None:
    spans = candidate_spans([4], 1)

    assert choose_spans(spans, torch.zeros(4), 2).tolist() == [0, 1]


def test_span_is_its_ends_its_width_and_the_weighted_sum_of_its_words() -> None:
    torch.manual_seed(0)
    spans = SpanRepresentation(x_dim=5, h_dim=4, max_width=3, width_dim=2).double()
    x, h = torch.randn(7, 5).double(), torch.randn(7, 4).double()
    candidates = candidate_spans([4, 3], 3)

    with torch.no_grad():
        g = spans(x, h, candidates)

    assert g.shape == (len(candidates), spans.get_output_dim())
    scores = (h.numpy() @ spans.head_scores.weight.detach().numpy().T)[:, 0]
    widths = spans.width_embedding.weight.detach().numpy()
    for (first, last), row in zip(candidates.tolist(), g.numpy()):
        weights = numpy.exp(scores[first : last + 1])
        head = (weights / weights.sum()) @ x.numpy()[first : last + 1]
        ends = h[first].numpy(), h[last].numpy()
        expected = numpy.concatenate([*ends, widths[last - first], head])
        numpy.testing.assert_allclose(row, expected, atol=1e-12)


def test_width_is_dropped_in_training_alone() -> None:
    spans = SpanRepresentation(x_dim=2, h_dim=3, max_width=2, width_dim=50, dropout=0.5)
    x, h = torch.randn(1, 2), torch.randn(1, 3)

    g = spans(x, h, torch.zeros(1, 2, dtype=torch.long))
    with torch.no_grad():
        same = spans.eval()(x, h, torch.zeros(1, 2, dtype=torch.long))

    assert 0 < (g[0, 6:56] == 0).sum() < 50
    torch.testing.assert_close(same[0, 6:56], spans.width_embedding.weight[0].detach())
