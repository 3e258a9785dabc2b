from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches_by_length(lengths: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """
    Yields batches of texts, as lists of their indices in `lengths`. The longest texts come first,
    so the texts of a batch have similar lengths. A batch has at most `max_tokens` tokens, padding
    included, but at least one text. Texts without tokens are left out.
    """
    indices = [index for index, length in enumerate(lengths) if length]
    indices.sort(key=lengths.__getitem__, reverse=True)
    start = 0
    while start < len(indices):
        stop = start + max(1, max_tokens // lengths[indices[start]])
        yield indices[start:stop]
        start = stop


def groups_of(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields the items in lists of `size`; the last may be shorter."""
    items = iter(items)
    while group := list(islice(items, size)):
        yield group
