from collections.abc import Iterable, Iterator, Sequence

# A batch that is filled up to `min_texts` texts may have this many times `max_tokens`.
_LARGEST = 8


def batches_by_length(
    lengths: Sequence[int], max_tokens: int, min_texts: int = 1
) -> Iterator[list[int]]:
    """
    Yields batches of texts of similar lengths, the longest first, as lists of indices in `lengths`.
    A batch has at most `max_tokens` tokens, padding included. A batch of fewer than `min_texts`
    texts is filled up to `min_texts` texts, as long as it has at most `8 * max_tokens` tokens. A
    longer text is a batch of its own. Texts without tokens are left out.
    """
    indices = [index for index, length in enumerate(lengths) if length]
    indices.sort(key=lengths.__getitem__, reverse=True)
    start = 0
    while start < len(indices):
        longest = lengths[indices[start]]
        few = min(min_texts, _LARGEST * max_tokens // longest)
        stop = start + max(1, few, max_tokens // longest)
        yield indices[start:stop]
        start = stop


def consecutive_batches(lengths: Iterable[int], max_tokens: int) -> Iterator[list[int]]:
    """
    Divides consecutive texts into batches of at most `max_tokens` tokens, padding included, and
    yields the lengths of the texts in each batch. A longer text is a batch of its own.
    """
    batch: list[int] = []
    longest = 0
    for length in lengths:
        longest = max(longest, length)
        if batch and (len(batch) + 1) * longest > max_tokens:
            yield batch
            batch, longest = [], length
        batch.append(length)
    if batch:
        yield batch
