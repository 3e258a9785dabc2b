from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common.batches import batches_by_length, groups_of


def largest(max_tokens: int, longest: int) -> int:
    """Returns the largest number of texts in a batch whose longest text is so long."""
    return max(1, max_tokens // longest, min(16, 8 * max_tokens // longest))


def test_the_longest_texts_come_first_with_others_of_similar_length() -> None:
    lengths = [2, 500, 3, 0, 3, *[1] * 50]

    batches = list(batches_by_length(lengths, 48))

    assert batches == [[1], [2, 4, 0, *range(5, 18)], list(range(18, 55))]


def test_a_few_long_texts_are_together_as_far_as_memory_allows() -> None:
    batches = list(batches_by_length(40 * [1000], 2048))

    assert list(map(len, batches)) == [16, 16, 8]
    assert list(map(len, batches_by_length(4 * [6000], 2048))) == [2, 2]


@given(st.lists(st.integers(0, 20)), st.integers(1, 30))
def test_every_text_is_in_one_batch_of_at_most_as_many_tokens_as_allowed(
    lengths: list[int], max_tokens: int
) -> None:
    batches = list(batches_by_length(lengths, max_tokens))

    indices = [index for batch in batches for index in batch]
    assert sorted(indices) == [index for index, length in enumerate(lengths) if length]
    for batch in batches:
        assert len(batch) <= largest(max_tokens, max(lengths[index] for index in batch))
    # A batch ends only if the first text of the next one would not have fitted.
    for batch, following in zip(batches, batches[1:]):
        assert len(batch) == largest(max_tokens, lengths[batch[0]])
        assert lengths[batch[-1]] >= lengths[following[0]]


@given(st.integers(0, 20), st.integers(1, 8))
def test_groups_have_the_size_but_for_the_last(num_items: int, size: int) -> None:
    groups = list(groups_of(iter(range(num_items)), size))

    assert [item for group in groups for item in group] == list(range(num_items))
    assert all(len(group) == size for group in groups[:-1])
    assert all(1 <= len(group) <= size for group in groups)
