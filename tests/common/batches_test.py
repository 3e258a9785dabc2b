import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common.batches import batches_by_length, consecutive_batches


def test_the_longest_texts_come_first_with_others_of_similar_length() -> None:
    assert list(batches_by_length([2, 30, 3, 0, 3, 1], 8)) == [[1], [2, 4], [0, 5]]


def test_few_long_texts_are_together_as_far_as_memory_allows() -> None:
    lengths = [*[1000] * 24, *[6000] * 4, 400, 300]

    batches = [len(batch) for batch in batches_by_length(lengths, 2048, min_texts=16)]

    # 2 * 6000 and 16 * 1000 tokens are at most 8 * 2048.
    assert batches == [2, 2, 16, 10]


@given(st.lists(st.integers(0, 20)), st.integers(1, 30))
def test_every_text_is_in_one_batch_of_at_most_as_many_tokens_as_allowed(
    lengths: list[int], max_tokens: int
) -> None:
    batches = list(batches_by_length(lengths, max_tokens))

    indices = [index for batch in batches for index in batch]
    assert sorted(indices) == [index for index, length in enumerate(lengths) if length]
    for batch in batches:
        longest = max(lengths[index] for index in batch)
        assert len(batch) == 1 or len(batch) * longest <= max_tokens
    # A batch ends only if the first text of the next one would not have fitted.
    for batch, following in zip(batches, batches[1:]):
        assert (len(batch) + 1) * lengths[batch[0]] > max_tokens
        assert lengths[batch[-1]] >= lengths[following[0]]


@given(st.lists(st.integers(1, 20)), st.integers(1, 30))
def test_consecutive_texts_are_together_as_far_as_allowed(
    lengths: list[int], max_tokens: int
) -> None:
    batches = list(consecutive_batches(lengths, max_tokens))

    assert [length for batch in batches for length in batch] == lengths
    assert all(len(batch) * max(batch) <= max_tokens or len(batch) == 1 for batch in batches)
    for batch, after in pairwise(batches):
        assert (len(batch) + 1) * max(*batch, after[0]) > max_tokens


def test_many_short_texts_take_time_in_proportion() -> None:
    start = time.process_time()

    batches = list(consecutive_batches([1] * 50_000, 100_000))

    # Linear time is 0.01 s, quadratic time several seconds.
    assert [len(batch) for batch in batches] == [50_000] and time.process_time() - start < 1
