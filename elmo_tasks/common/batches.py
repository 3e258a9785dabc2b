from collections.abc import Iterator, Sequence


def batches_by_length(lengths: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """
    The numbers of texts in batches, those of like length together, the longest first: as many as
    have `max_tokens` with their padding, and one at least. Texts without tokens are left out.
    """
    numbers = [number for number, length in enumerate(lengths) if length]
    numbers.sort(key=lengths.__getitem__, reverse=True)
    start = 0
    while start < len(numbers):
        stop = start + max(1, max_tokens // lengths[numbers[start]])
        yield numbers[start:stop]
        start = stop
