import numpy

from elmo_tasks.store.recent_layers import RecentLayers


def entry(num_bytes: int) -> numpy.ndarray:
    return numpy.full(num_bytes, num_bytes, numpy.uint8)


def kept(entries: RecentLayers, keys: bytes) -> bytes:
    """Which of the one-letter keys have an entry."""
    return bytes(key for key in keys if bytes([key]) in entries._entries)


def test_those_used_last_are_kept_as_far_as_the_bytes_reach() -> None:
    entries = RecentLayers(10)
    for key in (b"a", b"b", b"c"):
        entries.put(key, entry(3))

    # Now b is the one not used for the longest time.
    assert entries.get(b"a") is not None
    entries.put(b"d", entry(4))

    assert kept(entries, b"abcd") == b"acd"
    assert entries.get(b"b") is None
    entries.put(b"e", entry(10))
    assert kept(entries, b"abcde") == b"e"


def test_entry_that_is_too_large_drives_nothing_out() -> None:
    entries = RecentLayers(10)
    entries.put(b"a", entry(10))

    entries.put(b"b", entry(11))

    assert kept(entries, b"ab") == b"a"


def test_key_that_is_there_counts_once() -> None:
    entries = RecentLayers(10)
    for _ in range(5):
        entries.put(b"a", entry(5))
    entries.put(b"b", entry(5))

    assert kept(entries, b"ab") == b"ab"


def test_no_bytes_keep_nothing() -> None:
    entries = RecentLayers(0)
    entries.put(b"a", entry(1))

    assert entries.get(b"a") is None
