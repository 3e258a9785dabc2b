import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.modules.spans import best_spans


def by_force(
    start: torch.Tensor, end: torch.Tensor, max_tokens: int
) -> list[tuple[float, tuple[int, int]]]:
    """Returns all spans of a passage without padding, the most probable first."""
    p_start, p_end = start.softmax(dim=0), end.softmax(dim=0)
    length = len(start)
    spans = [
        ((p_start[i] * p_end[j]).item(), (i, j))
        for i in range(length)
        for j in range(i, min(i + max_tokens, length))
    ]
    return sorted(spans, reverse=True)


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 9), st.integers(1, 20))
def test_spans_are_those_of_a_search_through_all(
    seed: int, length: int, max_tokens: int, num_best: int
) -> None:
    torch.manual_seed(seed)
    longest = 9
    start, end = 3 * torch.randn(2, 1, longest, dtype=torch.double)
    mask = torch.arange(longest).unsqueeze(0) < length
    least = torch.finfo(torch.double).min
    start, end = start.masked_fill(~mask, least), end.masked_fill(~mask, least)

    found = best_spans(start, end, mask, max_tokens, num_best)

    expected = by_force(start[0, :length], end[0, :length], max_tokens)[:num_best]
    rows = zip(found.probabilities[0].tolist(), map(tuple, found.spans[0].tolist()))
    inside = [row for row in rows if row[1][1] < length]
    assert [span for _, span in inside] == [span for _, span in expected]
    torch.testing.assert_close([p for p, _ in inside], [p for p, _ in expected])
    # The rows that are no spans have a probability of 0.
    assert not found.probabilities[0, len(inside) :].any()


def test_start_and_end_are_chosen_together() -> None:
    # The best end, 0, is before the best start, 3.
    start = torch.tensor([[0.0, 2.0, 0.0, 5.0]])
    end = torch.tensor([[6.0, 0.0, 4.0, 0.0]])
    mask = torch.ones(1, 4, dtype=torch.bool)
    lower = end.clone()
    lower[0, 0] = 2.5

    found, found_lower = (best_spans(start, each, mask, 17).spans for each in (end, lower))

    assert found[0, 0].tolist() == [0, 0]
    assert found_lower[0, 0].tolist() == [1, 2]


def test_span_of_seventeen_tokens_is_the_longest() -> None:
    start, end = torch.full((2, 1, 30), -50.0)
    start[0, 5], end[0, 21], end[0, 22] = 50, 40, 50
    mask = torch.ones(1, 30, dtype=torch.bool)

    assert best_spans(start, end, mask, 17).spans[0, 0].tolist() == [5, 21]
    assert best_spans(start, end, mask, 18).spans[0, 0].tolist() == [5, 22]


def test_half_precision_overflows_nowhere() -> None:
    start = torch.full((1, 4), torch.finfo(torch.float16).min, dtype=torch.float16)
    start[0, :2] = torch.tensor([1.0, 2.0])
    mask = torch.tensor([[True, True, False, False]])

    found = best_spans(start, start, mask, 17, num_best=3)

    assert found.spans[0].tolist() == [[1, 1], [0, 1], [0, 0]]
    assert found.probabilities.isfinite().all()
