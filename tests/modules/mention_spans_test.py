from itertools import combinations
from random import Random

import pytest
import torch

from elmo_tasks.modules.mention_spans import candidate_spans, choose_spans


def test_candidates_are_the_short_spans_within_a_sentence() -> None:
    spans = candidate_spans([3, 1, 2], 2)

    assert spans.tolist() == [
        [0, 0],
        [0, 1],
        [1, 1],
        [1, 2],
        [2, 2],
        [3, 3],
        [4, 4],
        [4, 5],
        [5, 5],
    ]


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
