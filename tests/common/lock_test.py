import os
from pathlib import Path

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.lock import lock
from tests.helpers import processes


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "out.hdf5"

    def second() -> None:
        refused = pytest.raises(ConfigurationError, match="out.hdf5 is in use by another process")
        with refused, lock(output):
            pass

    with lock(output):
        assert processes.run(second) == 0


def test_a_lock_that_was_released_leaves_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        with lock(tmp_path / "out"):
            assert [path.name for path in tmp_path.iterdir()] == [".out.lock"]

    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    output = tmp_path / "out"

    def killed() -> None:
        with lock(output):
            os.kill(os.getpid(), 9)

    assert processes.run(killed) == -9
    assert (tmp_path / ".out.lock").exists()
    with lock(output):
        pass

    assert list(tmp_path.iterdir()) == []


def test_outputs_beside_each_other_have_owners_of_their_lock(tmp_path: Path) -> None:
    def second() -> None:
        with lock(tmp_path / "two"):
            pass

    with lock(tmp_path / "one"):
        assert processes.run(second) == 0


def test_an_output_in_a_folder_that_cannot_be_written_to_needs_no_lock(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = False

    with lock(tmp_path / "file" / "out"):
        ran = True

    assert ran


@pytest.mark.parametrize("target", ["precious", "missing", ".out.lock"])
def test_a_link_in_place_of_the_lock_is_refused_and_not_followed(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "precious").write_text("content")
    (tmp_path / ".out.lock").symlink_to(target)

    refused = pytest.raises(ConfigurationError, match="[.]out[.]lock must be a file .* remove it")
    with refused, lock(tmp_path / "out"):
        pass

    assert (tmp_path / "precious").read_text() == "content"
    assert sorted(os.listdir(tmp_path)) == [".out.lock", "precious"]


def test_a_file_system_without_locks_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*args: object, **kwargs: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("filelock._unix._lock_fd_nonblocking", no_locks)
    ran = False

    with lock(tmp_path / "out"):
        ran = True

    assert ran


def test_of_many_processes_only_one_at_a_time_has_the_output(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def work() -> None:
        for _ in range(200):
            try:
                with lock(tmp_path / "out"), open(log, "ab", buffering=0) as file:
                    file.write(b"(")
                    file.write(b")")
            except ConfigurationError:
                pass

    for pid in [processes.start(work) for _ in range(3)]:
        assert processes.end(pid) == 0

    entries = log.read_text()
    assert entries == "()" * (len(entries) // 2) and len(entries) > 200
