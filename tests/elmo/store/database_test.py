import logging
import os
import random
import resource
import shutil
import signal
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.store import layer_table
from elmo_tasks.elmo.store.database import LayerDatabase, Value
from tests.helpers.processes import end, run, run_until_signalled, start
from tests.helpers.small_disk import small_disk  # noqa: F401

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
    database, content = LayerDatabase(str(folder)), values(300)
    database.put(content)
    database.close()
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


def test_values_come_back_and_missing_ones_are_left_out(folder: Path) -> None:
    database, content, other = LayerDatabase(str(folder)), values(50), values(5, seed=1)
    assert read(database, content) == {}

    database.put(content)

    assert read(database, {**content, **other}) == content
    assert read(LayerDatabase.at(str(folder)), {}) == {}
    assert {value.key: value.num_bytes for value in database.values()} == {
        key: len(value) for key, value in content.items()
    }


def test_a_value_of_another_size_than_asked_for_counts_as_missing(folder: Path) -> None:
    database = LayerDatabase(str(folder))
    database.put({b"k" * 32: b"value"})

    assert database.get({b"k" * 32: 4}) == {}
    assert database.get({b"k" * 32: None})[b"k" * 32].tobytes() == b"value"


def test_a_value_is_not_overwritten(folder: Path) -> None:
    database = LayerDatabase(str(folder))
    database.put({b"k" * 32: b"first"})

    database.put({b"k" * 32: b"later"})

    assert read(database, {b"k" * 32: b"....."}) == {b"k" * 32: b"first"}


def test_asking_finds_what_reading_finds(folder: Path) -> None:
    database, content, other = LayerDatabase(str(folder)), values(50), values(5, seed=1)
    database.put(content)

    sizes = {key: len(value) for key, value in {**content, **other}.items()}

    assert database.has(sizes) == set(content)
    assert database.has(dict.fromkeys(content, 1)) == set()


def test_keys_come_in_groups_in_the_order_of_their_values(folder: Path) -> None:
    database, content = LayerDatabase(str(folder)), values(50)
    assert list(database.groups(7)) == []
    database.put(content)

    groups = list(database.groups(7))

    assert sum(groups, []) == list(content)
    assert max(map(len, groups)) == 7


def test_all_values_are_listed_page_by_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elmo_tasks.elmo.store.database._PAGE", 7)
    database, content = LayerDatabase(str(folder)), values(50)
    database.put(content)

    listed = list(database.values())

    assert listed == [Value(key, len(content[key])) for key in sorted(content)]


def test_a_full_file_loses_what_came_first(folder: Path) -> None:
    database = LayerDatabase(str(folder))
    keys = [bytes([index]) * 32 for index in range(100)]
    database.put({b"s" * 16: b"the record of a source"})

    for first in range(0, 100, 5):
        database.put({key: key * 1000 for key in keys[first : first + 5]}, max_bytes=1e6)

    there = database.has(dict.fromkeys(keys))
    # 32 kB a value.
    assert there == set(keys[-len(there) :])
    assert 25 <= len(there) <= 31
    assert os.path.getsize(folder / "layers.sqlite") < 1.3e6
    assert database.get({b"s" * 16: None})

    database.put({b"b" * 32: bytes(2_000_000)}, max_bytes=1e6)

    # A value that is larger than the limit does not stay.
    assert database.has(dict.fromkeys([*keys, b"b" * 32])) == set()
    assert database.takes_values


def test_a_large_file_opens_without_being_read(folder: Path) -> None:
    database = LayerDatabase(str(folder))
    database.put(values(2000, num_bytes=10_000))
    database.close()
    # Reading the file would find the damage.
    size = os.path.getsize(folder / "layers.sqlite")
    damage(folder, 3 * 4096, bytes(size - 3 * 4096))

    assert database.takes_values


def test_a_process_has_one_database_at_a_path(tmp_path: Path, folder: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)

    assert LayerDatabase.at(str(folder)) is LayerDatabase.at(str(link))


def test_the_file_grows_in_one_process_and_the_others_follow(folder: Path) -> None:
    database, first, more = LayerDatabase(str(folder)), values(10), values(100, seed=1)
    database.put(first)

    assert run(lambda: database.put(more)) == 0

    assert read(database, {**first, **more}) == {**first, **more}

    database.put(values(1, seed=2))

    assert len(list(database.values())) == 111


def test_no_connection_crosses_a_fork(folder: Path) -> None:
    database, content = LayerDatabase(str(folder)), values(10)
    database.put(content)
    before = database._connection

    def work() -> None:
        assert read(database, content) == content
        assert database._connection is not before

    assert run(work) == 0
    assert before is not None
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        before.execute("SELECT 1")
    assert read(database, content) == content


def test_a_fork_while_other_threads_use_the_database_has_a_database_that_works(
    folder: Path,
) -> None:
    database, content = LayerDatabase(str(folder)), values(50)
    database.put(content)
    stop = threading.Event()

    def use() -> None:
        while not stop.is_set():
            assert read(database, content) == content

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()

    statuses = [run(lambda: read(LayerDatabase(str(folder)), content)) for _ in range(3)]
    used = [run(lambda: database.put(values(3, seed=1))) for _ in range(3)]

    stop.set()
    for thread in threads:
        thread.join()
    assert statuses + used == 6 * [0]
    assert read(database, values(3, seed=1)) == values(3, seed=1)


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
    checksum = layer_table._checksum

    def write(seed: int, signal_a_value: Callable[[], object]) -> None:
        def signalling(*args: Any) -> int:
            signal_a_value()
            return checksum(*args)

        monkeypatch.setattr(layer_table, "_checksum", signalling)
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
    # The database lists what it holds, and holds something.
    assert {value.key for value in database.values()} == set(found) != set()
    database.put(content)
    assert read(database, content) == content


def test_a_folder_that_was_deleted_is_made_again(folder: Path) -> None:
    database, content = LayerDatabase(str(folder)), values(10)
    database.put(content)

    shutil.rmtree(folder)

    assert read(database, content) == {}

    database.put(content)

    assert read(database, content) == content
    assert read(LayerDatabase.at(str(folder)), {}) == {}


# Damage.


def test_a_file_that_was_cut_short_is_left_alone_with_one_message(
    folder: Path, filled: dict[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    os.truncate(folder / "layers.sqlite", os.path.getsize(folder / "layers.sqlite") // 2)
    before = (folder / "layers.sqlite").read_bytes()
    database = LayerDatabase(str(folder))

    for _ in range(3):
        assert read(database, filled) == {}
        database.put(values(5, seed=1))

    assert (folder / "layers.sqlite").read_bytes() == before
    (message,) = messages(caplog)
    assert str(folder) in message
    assert (
        "is damaged; delete it, and it is made anew (database disk image is malformed)" in message
    )


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


def test_a_file_of_garbage_is_left_alone_with_one_message(
    folder: Path, filled: dict[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "layers.sqlite").write_bytes(random.Random(0).randbytes(100_000))
    database = LayerDatabase(str(folder))

    for _ in range(3):
        assert read(database, filled) == {}
        database.put(filled)

    (message,) = messages(caplog)
    assert "is damaged; delete it, and it is made anew" in message


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
    database = LayerDatabase(str(folder))
    good, bad = {b"g" * 32: b"good" * 2000}, {b"b" * 32: b"bad!" * 2000}
    database.put({**good, **bad})
    database.close()
    offset = (folder / "layers.sqlite").read_bytes().index(b"bad!" * 500)
    damage(folder, offset + 1000, b"?")

    assert read(database, {**good, **bad}) == good

    database.put(bad)

    assert read(database, {**good, **bad}) == {**good, **bad}


def test_a_damaged_part_is_said_once_and_the_rest_is_read_and_merged(
    folder: Path, filled: dict[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    size = os.path.getsize(folder / "layers.sqlite")
    # Pages in the middle of the file have values and what links them.
    damage(folder, size // 2 // 4096 * 4096, b"?" * 10 * 4096)
    database, copy = LayerDatabase(str(folder)), LayerDatabase(str(folder / "copy"))

    found = [read(database, filled) for _ in range(3)][-1]
    for group in database.groups(10):
        copy.put(
            {key: value.tobytes() for key, value in database.get(dict.fromkeys(group)).items()}
        )

    assert found == {key: filled[key] for key in found}
    assert len(filled) - 40 <= len(found) < len(filled)
    assert read(copy, filled).items() <= filled.items()
    assert len(read(copy, filled)) > len(filled) - 60
    assert len([text for text in messages(caplog) if "computed each time they are" in text]) == 1


@pytest.mark.parametrize("content", [b"", bytes(100), b"SQLite format 3"], ids=len)
def test_a_file_without_tables_that_can_only_be_read_has_no_values(
    open_to_all: Path, content: bytes
) -> None:
    (open_to_all / "layers.sqlite").write_bytes(content)

    def work() -> None:
        as_nobody()
        os.chmod(open_to_all, 0o555) if os.geteuid() == os.stat(open_to_all).st_uid else None
        assert read(LayerDatabase(str(open_to_all)), values(3)) == {}

    assert run(work) == 0
    os.chmod(open_to_all, 0o755)


def test_a_file_whose_mark_is_damaged_is_not_taken_for_another_program(
    folder: Path, filled: dict[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    # The application id in the header.
    damage(folder, 68, b"????")

    assert read(LayerDatabase(str(folder)), filled) == {}

    (message,) = messages(caplog)
    assert "is damaged; delete it, and it is made anew (its header" in message


def test_a_file_of_another_program_is_refused(folder: Path) -> None:
    folder.mkdir()
    other = sqlite3.connect(folder / "layers.sqlite")
    other.execute("CREATE TABLE theirs (key)")

    with pytest.raises(ConfigurationError, match="layers.sqlite is a file of another program"):
        LayerDatabase(str(folder)).put(values(1))

    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


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
        assert "takes no more layers (" in message and "are free on its disk" in message

    assert run(work) == 0

    assert read(database, {**filled, **more}) == filled

    database.put(more)

    assert read(database, {**filled, **more}) == {**filled, **more}


@pytest.mark.parametrize("num_free", [0, 20_000, 45_000, 60_000])
def test_a_disk_that_is_full_from_the_start_ends_no_process(
    num_free: int,
    small_disk: Path,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
) -> None:
    database, content = LayerDatabase(str(small_disk / "store")), values(100)
    with open(small_disk / "filling", "wb") as filling:
        filling.write(bytes(shutil.disk_usage(small_disk).free - num_free))

    def work() -> None:
        for key, value in content.items():
            database.put({key: value})
        found = read(database, content)
        assert found.items() <= content.items()
        assert not database.takes_values
        (message,) = messages(caplog)
        assert "disk is full" in message or "disk I/O" in message or "unable to open" in message

    assert run(work) == 0


@pytest.mark.parametrize("has_journal", [True, False])
def test_a_folder_that_cannot_be_written_is_read_with_one_message(
    open_to_all: Path, caplog: pytest.LogCaptureFixture, has_journal: bool
) -> None:
    folder, content = open_to_all / "store", values(30)
    database = LayerDatabase(str(folder))
    database.put(content)
    database.close()
    if not has_journal:
        (folder / "layers.sqlite-journal").unlink()
    folder.chmod(0o555)

    def work() -> None:
        as_nobody()
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
        assert "cannot be opened" in message and "Permission denied" in message

    assert run(work) == 0
    os.chmod(open_to_all, 0o755)
