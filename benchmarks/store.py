"""
Measures how a store grows: bytes, opening, look-ups, writing and memory at some numbers of
sentences. Prints a table in Markdown.

    python benchmarks/store.py --entries 10000 100000 1000000 --folder /tmp/store

The entries are those of sentences of 20 tokens in a biLM with the widths of `mini` (1,280 bytes a
token in float16), with random numbers in place of its layers. Each number of entries is reached by
going on from the one before; then processes of their own open the store and look up entries drawn
at random. Times are CPU times and, in brackets, wall times. `--cold` makes the operating system
forget the pages of the file before each of these processes.
"""

import argparse
import multiprocessing
import os
import resource
import shutil
import statistics
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from tqdm import tqdm

from benchmarks.machine import machine
from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.elmo.store.database import LayerDatabase

_KEY = hash_bytes(b"benchmark")

# Entries of a transaction, as of a batch of 2,048 tokens.
_BATCH = 100


class Taken(NamedTuple):
    """Seconds of CPU time and of wall time."""

    cpu: float
    wall: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--entries", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    add("--tokens", type=int, default=20, help="tokens of a sentence (default: 20)")
    add("--folder", type=Path, default=Path("/tmp/store"), help="default: /tmp/store")
    add("--look-ups", type=int, default=10_000, help="default: 10000")
    add("--turns", type=int, default=5, help="how often the store is opened (default: 5)")
    add("--cold", action="store_true", help="read from the disk, not from memory")
    arguments = parser.parse_args()
    if arguments.folder.exists():
        parser.error(f"{arguments.folder} exists; delete it first")
    num_bytes = arguments.tokens * 1280
    rows, before = [], 0
    for count in sorted(arguments.entries):
        wrote = in_a_process(write, arguments.folder, before, count, num_bytes)
        rows.append(row(count, before, wrote, num_bytes, arguments))
        before = count
    print(
        f"{date.today()}, {machine()}, one process, entries of {num_bytes:,} bytes, "
        f"{'cold' if arguments.cold else 'warm'}\n"
    )
    heads = (
        "entries", "GB", "overhead", "open", "look-up in a batch", "asking", "write",
        "memory of a reader",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for cells in rows:
        print(f"| {' | '.join(cells)} |")
    shutil.rmtree(arguments.folder)


def row(
    count: int, before: int, wrote: Taken, num_bytes: int, arguments: argparse.Namespace
) -> list[str]:
    folder, num_keys = arguments.folder, arguments.look_ups
    size = os.path.getsize(folder / "layers.sqlite")

    def measured(work: Callable[..., Any], *parameters: Any) -> Any:
        if arguments.cold:
            forget(folder / "layers.sqlite")
        return in_a_process(work, folder, *parameters)

    opened = [measured(open_and_get) for _ in range(arguments.turns)]
    looked_up, memory = measured(look_up, count, num_keys)
    asked = measured(ask, count, num_keys)
    return [
        f"{count:,}",
        f"{size / 1e9:,.2f}",
        f"{100 * (size / count / num_bytes - 1):.1f} %",
        f"{1e3 * statistics.median(taken.wall for taken in opened):.1f} ms",
        micros(looked_up, num_keys),
        micros(asked, num_keys),
        micros(wrote, count - before),
        f"{memory:.0f} MB",
    ]


def forget(file: Path) -> None:
    """Drops the pages of a file from the memory of the operating system."""
    handle = os.open(file, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def key_of(index: int) -> bytes:
    return _KEY + hash_bytes(index.to_bytes(8, "little"))


def write(folder: Path, first: int, last: int, num_bytes: int) -> Taken:
    """Adds entries to the store, a batch in a transaction."""
    database = LayerDatabase(str(folder))
    generator = numpy.random.default_rng(first)
    numbers = generator.bytes(num_bytes * (_BATCH + 1))
    batches = [(start, min(start + _BATCH, last)) for start in range(first, last, _BATCH)]
    clock = Clock()
    for start, stop in tqdm(batches, desc=f"to {last:,} entries", leave=False):
        database.put(
            {
                key_of(index): numbers[(index - start) * num_bytes :][:num_bytes]
                for index in range(start, stop)
            }
        )
    return clock.taken()


def open_and_get(folder: Path) -> Taken:
    """Opens the store and reads one entry."""
    clock = Clock()
    (_,) = LayerDatabase(str(folder)).get({key_of(0): None}).values()
    return clock.taken()


def look_up(folder: Path, count: int, num_keys: int) -> tuple[Taken, float]:
    """Reads entries drawn at random, a batch in a transaction; returns the added memory too."""
    database, keys = LayerDatabase(str(folder)), drawn(count, num_keys)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clock = Clock()
    for start in range(0, num_keys, _BATCH):
        batch = keys[start : start + _BATCH]
        assert len(database.get(dict.fromkeys(batch))) == len(set(batch))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return clock.taken(), (after - before) / 1000


def ask(folder: Path, count: int, num_keys: int) -> Taken:
    """Asks whether entries drawn at random are there, as filling does."""
    database, keys = LayerDatabase(str(folder)), drawn(count, num_keys)
    clock = Clock()
    for start in range(0, num_keys, _BATCH):
        batch = keys[start : start + _BATCH]
        assert len(database.has(dict.fromkeys(batch))) == len(set(batch))
    return clock.taken()


def drawn(count: int, num_keys: int) -> list[bytes]:
    indices = numpy.random.default_rng(0).integers(0, count, num_keys)
    return [key_of(int(index)) for index in indices]


class Clock:
    """Measures from its making on."""

    def __init__(self) -> None:
        self._begun = Taken(time.process_time(), time.perf_counter())

    def taken(self) -> Taken:
        return Taken(time.process_time() - self._begun.cpu, time.perf_counter() - self._begun.wall)


def micros(taken: Taken, count: int) -> str:
    return f"{1e6 * taken.cpu / count:.0f} ({1e6 * taken.wall / count:.0f}) µs"


def in_a_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function in a process of its own, which has opened nothing and has a low peak."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


if __name__ == "__main__":
    main()
