import logging
import os
import random
import shutil
from pathlib import Path

import lmdb
import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.store.contents import contents, merge
from elmo_tasks.store.lmdb_database import LmdbDatabase, find_damage
from tests.helpers.processes import run

# A store that an older version made.
OLD = Path(__file__).parents[2] / "fixtures" / "before_the_move" / "store"


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    shutil.copytree(OLD, folder)
    return folder


def values_of(database: LmdbDatabase) -> dict[bytes, bytes]:
    sizes = {value.key: value.num_bytes for value in database.values()}
    return {key: value.tobytes() for key, value in database.get(sizes).items()}


def test_the_values_of_an_old_file_are_those_that_lmdb_reads(folder: Path) -> None:
    database = LmdbDatabase(str(folder))

    found = values_of(database)
    database.close()

    with lmdb.open(str(folder), readonly=True, lock=False) as other, other.begin() as transaction:
        expected = {bytes(key): bytes(value)[4:] for key, value in transaction.cursor()}
    del expected[b"elmo_tasks layers 1"]
    assert found == expected != {}
    assert database.has(dict.fromkeys([*found, b"another"])) == set(found)
    assert database.get(dict.fromkeys(found, 1)) == {}
    assert sorted(sum(database.groups(7), [])) == sorted(found)


def test_a_file_that_was_cut_short_is_left_alone_with_one_message(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    os.truncate(folder / "data.mdb", 30_000)
    database = LmdbDatabase(str(folder))

    for _ in range(3):
        assert values_of(database) == {}

    (message,) = [record.getMessage() for record in caplog.records if record.levelno >= 30]
    assert f"data.mdb of the store {folder} is damaged; delete it (its file was cut" in message


def test_a_file_that_is_cut_short_while_it_is_open_is_not_read(folder: Path) -> None:
    def work() -> None:
        database = LmdbDatabase(str(folder))
        assert values_of(database)
        os.truncate(folder / "data.mdb", 20_000)
        assert values_of(database) == {}

    # Reading the file would crash the process.
    assert run(work) == 0


def test_a_sound_file_has_no_damage_and_an_empty_one_is_damaged(folder: Path) -> None:
    assert find_damage(str(folder)) is None

    os.truncate(folder / "data.mdb", 0)

    assert find_damage(str(folder)) == "its file was cut short"


def test_damage_within_the_file_never_gives_a_wrong_value(folder: Path) -> None:
    sound = (folder / "data.mdb").read_bytes()
    expected = values_of(LmdbDatabase(str(folder)))
    generator = random.Random(0)

    for num_bytes in (1, 512, 4096):
        content = bytearray(sound)
        for _ in range(4096 // num_bytes):
            offset = generator.randrange(len(sound) // num_bytes) * num_bytes
            content[offset : offset + num_bytes] = generator.randbytes(num_bytes)
        (folder / "data.mdb").write_bytes(content)

        def work() -> None:
            found = LmdbDatabase(str(folder)).get(dict.fromkeys(expected))
            assert all(found[key].tobytes() == expected[key] for key in found)

        # The damage does not crash the process, either.
        assert run(work) == 0


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    with lmdb.open(str(tmp_path)) as other, other.begin(write=True) as transaction:
        transaction.put(b"theirs", b"1")

    with pytest.raises(ConfigurationError, match="LMDB file of another program"):
        LmdbDatabase(str(tmp_path)).get({b"theirs": None})


def test_an_old_store_is_merged_into_a_new_file(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(tmp_path / "new")

    num_merged = merge(path, str(folder))

    old, new = contents(str(folder)), contents(path)
    assert num_merged == old.num_sentences == new.num_sentences > 10
    assert [share[1:] for share in new.shares] == [share[1:] for share in old.shares]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
