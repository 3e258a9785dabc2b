import os
from pathlib import Path

from elmo_tasks.store.lmdb_file import (
    begin,
    file_identity,
    find_damage,
    grow,
    is_cut_short,
    open_environment,
)


def fill(path: str) -> None:
    environment = open_environment(path)
    with begin(environment, write=True) as transaction:
        for k in range(100):
            transaction.put(str(k).encode(), bytes(3000))
    environment.close()


def test_a_missing_an_empty_and_a_sound_file_have_no_damage(tmp_path: Path) -> None:
    missing, empty, sound = (str(tmp_path / name) for name in ("missing", "empty", "sound"))
    os.mkdir(empty)
    Path(empty, "data.mdb").touch()
    fill(sound)

    assert [find_damage(path) for path in (missing, empty, sound)] == [None, None, None]


def test_a_file_that_was_cut_short_is_damaged(tmp_path: Path) -> None:
    fill(str(tmp_path))
    os.truncate(tmp_path / "data.mdb", 100_000)

    assert find_damage(str(tmp_path)) == "its file was cut short"


def test_a_file_that_is_cut_short_while_it_is_open_is_noticed(tmp_path: Path) -> None:
    fill(str(tmp_path))
    environment = open_environment(str(tmp_path))
    assert not is_cut_short(environment, str(tmp_path))

    os.truncate(tmp_path / "data.mdb", 100_000)

    assert is_cut_short(environment, str(tmp_path))


def test_a_file_that_replaces_another_has_another_identity(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    assert file_identity(first) == ()
    fill(first)
    fill(second)
    before = file_identity(first)

    os.replace(Path(second, "data.mdb"), Path(first, "data.mdb"))

    assert file_identity(first) not in ((), before)


def test_growing_doubles_the_map(tmp_path: Path) -> None:
    environment = open_environment(str(tmp_path))
    size = environment.info()["map_size"]

    grow(environment)

    assert environment.info()["map_size"] == 2 * size
