import signal
import threading
import time

import numpy

from elmo_tasks.elmo.store.recent_layers import RecentLayers
from tests.helpers.processes import run


def entry(num_bytes: int) -> numpy.ndarray:
    return numpy.full(num_bytes, num_bytes, numpy.uint8)


def kept(entries: RecentLayers, keys: bytes) -> bytes:
    """Returns those of the one-letter keys that have an entry."""
    return bytes(key for key in keys if bytes([key]) in entries._entries)


def test_the_arrays_used_last_are_kept_within_the_bytes() -> None:
    entries = RecentLayers(10)
    for key in (b"a", b"b", b"c"):
        entries.put(key, entry(3))

    # After this use of a, b has not been used for the longest time.
    assert entries.get(b"a") is not None

    entries.put(b"d", entry(4))

    assert kept(entries, b"abcd") == b"acd"
    assert entries.get(b"b") is None

    entries.put(b"e", entry(10))

    assert kept(entries, b"abcde") == b"e"


def test_an_array_that_is_too_large_drives_nothing_out() -> None:
    entries = RecentLayers(10)
    entries.put(b"a", entry(10))

    entries.put(b"b", entry(11))

    assert kept(entries, b"ab") == b"a"


def test_a_key_counts_once_however_often_it_is_put() -> None:
    entries = RecentLayers(10)

    for _ in range(5):
        entries.put(b"a", entry(5))
    entries.put(b"b", entry(5))

    assert kept(entries, b"ab") == b"ab"


def test_with_0_bytes_nothing_is_kept() -> None:
    entries = RecentLayers(0)

    entries.put(b"a", entry(1))

    assert entries.get(b"a") is None


class SlowEntry:
    """An array of 5 bytes that takes its time to say so."""

    @property
    def nbytes(self) -> int:
        time.sleep(0.05)
        return 5


def test_arrays_of_two_threads_are_kept_within_the_bytes() -> None:
    entries = RecentLayers(10)
    threads = [
        threading.Thread(target=entries.put, args=(key, SlowEntry())) for key in (b"a", b"b")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    entries.put(b"c", entry(5))

    assert len(kept(entries, b"abc")) == 2


def test_a_fork_while_another_thread_uses_the_entries_can_use_them() -> None:
    entries = RecentLayers(10)
    thread = threading.Thread(target=entries.put, args=(b"a", SlowEntry()))

    def work() -> None:
        # The signal ends a fork that waits for ever.
        signal.alarm(2)
        assert entries.get(b"a") is not None

    thread.start()
    status = run(work)

    thread.join()
    assert status == 0
