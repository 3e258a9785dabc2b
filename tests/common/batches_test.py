from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common.batches import batches_by_length


def test_the_longest_come_first_with_those_of_like_length() -> None:
    assert list(batches_by_length([2, 30, 3, 0, 3, 1], 8)) == [[1], [2, 4], [0, 5]]


@given(st.lists(st.integers(0, 20)), st.integers(1, 30))
def test_every_text_is_in_one_batch_which_keeps_to_the_tokens(
    lengths: list[int], max_tokens: int
) -> None:
    batches = list(batches_by_length(lengths, max_tokens))
    numbers = [number for batch in batches for number in batch]
    assert sorted(numbers) == [number for number, length in enumerate(lengths) if length]
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[n] for n in batch) <= max_tokens
    # Not one batch more than it takes: the first of the next would not have fit.
    for batch, following in zip(batches, batches[1:]):
        assert (len(batch) + 1) * lengths[batch[0]] > max_tokens
        assert lengths[batch[-1]] >= lengths[following[0]]
