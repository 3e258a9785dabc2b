import logging
import os
import random
import resource
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.elmo.store import database as module
from elmo_tasks.elmo.store.database import LayerDatabase
from tests.helpers.processes import end, run, run_until_signalled, start

NOBODY = 65534


def values(num_values: int, seed: int = 0, num_bytes: int = 3000) -> dict[bytes, bytes]:
    """Returns random values by random keys. Large values have pages of their own in the file."""
    generator = random.Random(seed)
    sizes = (100, num_bytes, 5 * num_bytes)
    return {
        generator.randbytes(32): generator.randbytes(generator.choice(sizes))
        for _ in range(num_values)
    }


def read(database: LayerDatabase, keys: dict[bytes, bytes]) -> dict[bytes, bytes]:
    found = database.get({key: len(value) for key, value in keys.items()})
    return {key: value.tobytes() for key, value in found.items()}


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def damage(folder: Path, offset: int, content: bytes) -> None:
    with open(folder / "layers.sqlite", "r+b") as file:
        file.seek(offset)
        file.write(content)


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture()
def filled(folder: Path) -> dict[bytes, bytes]:
    """Fills a store, closes it, and returns its values."""
    content = values(300)
    LayerDatabase(str(folder)).put(content)
    return content


@pytest.fixture()
def open_to_all() -> Iterator[Path]:
    """Makes a folder that any user may read."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def as_nobody() -> None:
    """Makes root another user, since root may write everywhere."""
    if os.geteuid() == 0:
        os.setuid(NOBODY)


KEYS = [bytes([index]) * 32 for index in range(4)]
ASKED = st.dictionaries(st.sampled_from(KEYS), st.binary(max_size=3))


# Each fork takes a while.
@settings(max_examples=12)
@given(st.lists(st.tuples(st.sampled_from(["put", "fork", "get", "open"]), ASKED), max_size=8))
def test_a_database_is_a_dict_whose_values_have_the_sizes_that_are_asked_for(
    steps: list[tuple[str, dict[bytes, bytes]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database, expected = LayerDatabase(folder), dict[bytes, bytes]()
        for step, asked in steps:
            sizes = {key: len(value) for key, value in asked.items()}
            there = {
                key: expected[key]
                for key, size in sizes.items()
                if key in expected and len(expected[key]) == size
            }
            if step in ("put", "fork"):
                put = partial(database.put, asked)
                assert run(put) == 0 if step == "fork" else put() is None
                # A value that is there stays.
                expected |= {**asked, **there}
            elif step == "get":
                assert read(database, asked) == there
            else:
                database = LayerDatabase(folder)


def test_a_large_file_opens_without_being_read(folder: Path) -> None:
    LayerDatabase(str(folder)).put(values(2000, num_bytes=10_000))
    # Reading the file would find the damage.
    size = os.path.getsize(folder / "layers.sqlite")
    damage(folder, 3 * 4096, bytes(size - 3 * 4096))

    assert LayerDatabase(str(folder))._open() is not None


def test_ten_processes_read_and_write_at_once(folder: Path) -> None:
    database, content = LayerDatabase(str(folder)), values(200)
    keys = list(content)

    def work(seed: int) -> None:
        generator = random.Random(seed)
        for _ in range(20):
            some = {key: content[key] for key in generator.sample(keys, 20)}
            database.put(some)
            assert read(database, some) == some
            seen = read(database, content)
            assert seen == {key: content[key] for key in seen}

    processes = [start(partial(work, seed)) for seed in range(10)]

    assert [end(process) for process in processes] == [0] * 10
    assert read(database, content) == content


def test_after_twenty_kills_while_writing_every_value_reads_back_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = random.Random(0)
    content = values(1000)
    keys = list(content)
    checksum = module._checksum

    def write(seed: int, signal_a_value: Callable[[], object]) -> None:
        def signalling(*args: Any) -> int:
            signal_a_value()
            return checksum(*args)

        monkeypatch.setattr(module, "_checksum", signalling)
        database, mine = LayerDatabase(str(folder)), random.Random(seed)
        while True:
            database.put({key: content[key] for key in mine.sample(keys, 10)})

    # Each process is killed within one of its first five transactions.
    for seed in range(20):
        status = run_until_signalled(partial(write, seed), generator.randint(1, 50))
        assert status == -signal.SIGKILL

    database = LayerDatabase(str(folder))
    found = read(database, content)
    assert found == {key: content[key] for key in found}
    assert found
    database.put(content)
    assert read(database, content) == content


# Damage.


def cut_short(file: Path) -> None:
    os.truncate(file, os.path.getsize(file) // 2)


def garbage(file: Path) -> None:
    file.write_bytes(random.Random(0).randbytes(100_000))


def other_tables(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE theirs (key)")


DAMAGES = [
    (cut_short, "made anew (database disk image is malformed)"),
    (garbage, "made anew ("),
    (other_tables, "made anew (its tables"),
]


@pytest.mark.parametrize(("harm", "why"), DAMAGES)
def test_a_damaged_file_is_left_alone_with_one_message(
    harm: Callable[[Path], None],
    why: str,
    folder: Path,
    filled: dict[bytes, bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    harm(folder / "layers.sqlite")
    before = (folder / "layers.sqlite").read_bytes()
    database = LayerDatabase(str(folder))

    for _ in range(3):
        assert read(database, filled) == {}
        database.put(values(5, seed=1))

    assert (folder / "layers.sqlite").read_bytes() == before
    (message,) = messages(caplog)
    assert str(folder) in message and f"is damaged; delete it, and it is {why}" in message


@pytest.mark.parametrize("num_bytes", [0, 100_000])
def test_a_file_that_is_cut_short_while_it_is_open_is_not_read(
    folder: Path, filled: dict[bytes, bytes], num_bytes: int
) -> None:
    def work() -> None:
        database = LayerDatabase(str(folder))
        assert read(database, filled) == filled
        os.truncate(folder / "layers.sqlite", num_bytes)
        assert read(database, filled) == {}
        database.put(values(5, seed=1))

    # Reading the file would crash the process.
    assert run(work) == 0


@pytest.mark.parametrize("num_bytes", [1, 512, 4096])
def test_damage_within_the_file_never_gives_a_wrong_value(
    folder: Path, filled: dict[bytes, bytes], num_bytes: int
) -> None:
    sound = (folder / "layers.sqlite").read_bytes()
    generator = random.Random(num_bytes)

    for _ in range(4):
        (folder / "layers.sqlite").write_bytes(sound)
        for _ in range(4096 // num_bytes):
            offset = generator.randrange(len(sound) // num_bytes) * num_bytes
            damage(folder, offset, generator.randbytes(num_bytes))

        def work() -> None:
            database = LayerDatabase(str(folder))
            found = read(database, filled)
            assert found == {key: filled[key] for key in found}
            more = values(20, seed=1)
            database.put(more)
            found = read(database, more)
            assert found == {key: more[key] for key in found}

        # The damage does not crash the process, either.
        assert run(work) == 0


def test_a_damaged_value_counts_as_missing_and_is_replaced(folder: Path) -> None:
    good, bad = {b"g" * 32: b"good" * 2000}, {b"b" * 32: b"bad!" * 2000}
    LayerDatabase(str(folder)).put({**good, **bad})
    offset = (folder / "layers.sqlite").read_bytes().index(b"bad!" * 500)
    damage(folder, offset + 1000, b"?")
    database = LayerDatabase(str(folder))

    assert read(database, {**good, **bad}) == good

    database.put(bad)

    assert read(database, {**good, **bad}) == {**good, **bad}


# Disks and folders that cannot be written.


def test_a_full_disk_ends_writing_with_one_message_and_reading_goes_on(
    folder: Path, filled: dict[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    database, more = LayerDatabase(str(folder)), values(300, seed=1)

    def work() -> None:
        limit = os.path.getsize(folder / "layers.sqlite") + 100_000
        # SQLite's writes end early, as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        for _ in range(3):
            database.put(more)
            assert read(database, filled) == filled
        (message,) = messages(caplog)
        assert "takes no more layers (" in message

    assert run(work) == 0

    assert read(database, {**filled, **more}) == filled

    database.put(more)

    assert read(database, {**filled, **more}) == {**filled, **more}


@pytest.mark.parametrize("has_journal", [True, False])
def test_a_folder_that_cannot_be_written_is_read_with_one_message(
    open_to_all: Path, caplog: pytest.LogCaptureFixture, has_journal: bool
) -> None:
    folder, content = open_to_all / "store", values(30)
    LayerDatabase(str(folder)).put(content)
    if not has_journal:
        (folder / "layers.sqlite-journal").unlink()
    folder.chmod(0o555)

    def work() -> None:
        as_nobody()
        database = LayerDatabase(str(folder))
        for _ in range(3):
            assert read(database, content) == content
            database.put(values(5, seed=1))
        (message,) = messages(caplog)
        assert "can only be read; it takes no more layers" in message

    assert run(work) == 0
    folder.chmod(0o755)


def test_without_a_folder_nothing_is_kept_and_one_message_says_so(
    open_to_all: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        as_nobody()
        os.chmod(open_to_all, 0o555) if os.geteuid() == os.stat(open_to_all).st_uid else None
        database = LayerDatabase(str(open_to_all / "store"))
        for _ in range(3):
            database.put(values(3))
            assert read(database, values(3)) == {}
        (message,) = messages(caplog)
        assert "cannot be read" in message and "Permission denied" in message

    assert run(work) == 0
    os.chmod(open_to_all, 0o755)
