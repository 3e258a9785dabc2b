import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.modules.answer_spans import best_spans


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

    spans, probabilities = best_spans(start, end, mask, max_tokens, num_best)

    expected = by_force(start[0, :length], end[0, :length], max_tokens)[:num_best]
    rows = zip(probabilities[0].tolist(), map(tuple, spans[0].tolist()))
    inside = [row for row in rows if row[1][1] < length]
    assert [span for _, span in inside] == [span for _, span in expected]
    torch.testing.assert_close([p for p, _ in inside], [p for p, _ in expected])
    # The rows that are no spans have a probability of 0.
    assert not probabilities[0, len(inside) :].any()


def test_half_precision_overflows_nowhere() -> None:
    start = torch.full((1, 4), torch.finfo(torch.float16).min, dtype=torch.float16)
    start[0, :2] = torch.tensor([1.0, 2.0])
    mask = torch.tensor([[True, True, False, False]])

    spans, probabilities = best_spans(start, start, mask, 17, num_best=3)

    assert spans[0].tolist() == [[1, 1], [0, 1], [0, 0]]
    assert probabilities.isfinite().all()
