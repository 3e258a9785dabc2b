import os
from pathlib import Path

import pytest

from elmo_tasks.common.files import atomic_write


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "text.txt"

    with atomic_write(path) as aside:
        aside.write_text("half")
        assert not path.exists()
        aside.write_text("whole")

    assert path.read_text() == "whole"
    assert os.listdir(path.parent) == ["text.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_file_that_is_not_finished_leaves_nothing(
    tmp_path: Path, error: type[BaseException]
) -> None:
    with pytest.raises(error), atomic_write(tmp_path / "text.txt") as aside:
        aside.write_text("half")
        raise error

    assert os.listdir(tmp_path) == []


def test_a_file_that_is_not_finished_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("old")

    with pytest.raises(ValueError), atomic_write(path) as aside:
        aside.write_text("half")
        raise ValueError

    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["text.txt"]


def test_a_new_file_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("old")

    with atomic_write(str(path)) as aside:
        aside.write_text("new")

    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["text.txt"]


def test_a_file_in_the_working_directory_needs_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with atomic_write("text.txt") as aside:
        aside.write_text("whole")

    assert Path("text.txt").read_text() == "whole"


def test_a_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").touch()

    with atomic_write(tmp_path / "text.txt") as aside:
        aside.touch()

    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1
