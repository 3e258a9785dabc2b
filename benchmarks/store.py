"""
Measures how a store grows: bytes, look-ups and writing at some numbers of sentences. Prints a table
in Markdown.

    python benchmarks/store.py --entries 10000 100000 1000000 --folder /tmp/store

The entries are those of sentences of 20 tokens in a biLM with the widths of `mini` (1,280 bytes a
token in float16), with random numbers in place of its layers. Each number of entries is reached by
going on from the one before; then processes of their own, one a turn, look up entries drawn at
random. Times are CPU times and, in brackets, wall times: of a look-up, the medians of the turns.
`--cold` makes the operating system forget the pages of the file before each of these processes.
"""

import argparse
import os
import shutil
import time
from pathlib import Path

import numpy
from tqdm import tqdm

from benchmarks.harness import in_a_process, parser, report
from elmo_tasks.common.tensors import hash_bytes
from elmo_tasks.elmo.store.database import LayerDatabase

_KEY = hash_bytes(b"benchmark")
# Entries of a transaction, as of a batch of 2,048 tokens.
_BATCH = 100
# Seconds of CPU time and of wall time.
Taken = numpy.ndarray


def main() -> None:
    options = parser("store", __doc__, turns=5)
    add = options.add_argument
    add("--entries", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    add("--tokens", type=int, default=20, help="tokens of a sentence (default: 20)")
    add("--folder", type=Path, default=Path("/tmp/store"), help="default: /tmp/store")
    add("--look-ups", type=int, default=10_000, help="default: 10000")
    add("--cold", action="store_true", help="read from the disk, not from memory")
    arguments = options.parse_args()
    if arguments.folder.exists():
        options.error(f"{arguments.folder} exists; delete it first")
    num_bytes = arguments.tokens * 1280
    rows, before = [], 0
    for count in sorted(arguments.entries):
        wrote = in_a_process(write, arguments.folder, before, count, num_bytes)
        rows.append(row(count, before, wrote, num_bytes, arguments))
        before = count
    shutil.rmtree(arguments.folder)
    report(
        ["entries", "GB", "overhead", "look-up in a batch", "write"],
        rows,
        f"one process, entries of {num_bytes:,} bytes, {'cold' if arguments.cold else 'warm'}",
    )


def row(
    count: int, before: int, wrote: Taken, num_bytes: int, arguments: argparse.Namespace
) -> list[str]:
    folder, num_keys = arguments.folder, arguments.look_ups
    file = folder / "layers.sqlite"
    size = file.stat().st_size
    looked_up = []
    for _ in range(arguments.turns):
        if arguments.cold:
            forget(file)
        looked_up.append(in_a_process(look_up, folder, count, num_keys))
    return [
        f"{count:,}",
        f"{size / 1e9:,.2f}",
        f"{100 * (size / count / num_bytes - 1):.1f} %",
        micros(numpy.median(looked_up, axis=0), num_keys),
        micros(wrote, count - before),
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
    numbers = numpy.random.default_rng(first).bytes(num_bytes * (_BATCH + 1))
    start_time = now()
    for start in tqdm(range(first, last, _BATCH), desc=f"to {last:,} entries", leave=False):
        database.put(
            {
                key_of(index): numbers[(index - start) * num_bytes :][:num_bytes]
                for index in range(start, min(start + _BATCH, last))
            }
        )
    return now() - start_time


def look_up(folder: Path, count: int, num_keys: int) -> Taken:
    """Reads entries drawn at random, a batch in a transaction."""
    database = LayerDatabase(str(folder))
    indices = numpy.random.default_rng(0).integers(0, count, num_keys)
    keys = [key_of(int(index)) for index in indices]
    start_time = now()
    for start in range(0, num_keys, _BATCH):
        batch = keys[start : start + _BATCH]
        assert len(database.get(dict.fromkeys(batch))) == len(set(batch))
    return now() - start_time


def now() -> Taken:
    return numpy.array([time.process_time(), time.perf_counter()])


def micros(times: Taken, count: int) -> str:
    cpu, wall = 1e6 * times / count
    return f"{cpu:.0f} ({wall:.0f}) µs"


if __name__ == "__main__":
    main()
