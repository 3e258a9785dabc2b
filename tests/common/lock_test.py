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

    for _ in range(2):
        with lock(output):
            assert [path.name for path in tmp_path.iterdir()] == [".out.hdf5.lock"]
            assert processes.run(second) == 0
            with lock(tmp_path / "another"):
                pass
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


def test_where_there_are_no_locks_the_block_runs_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*args: object, **kwargs: object) -> None:
        raise OSError(37, "No locks available")

    (tmp_path / "file").write_text("")
    ran = 0

    # Nothing can be written into a file.
    with lock(tmp_path / "file" / "out"):
        ran += 1
    monkeypatch.setattr("filelock._unix._lock_fd_nonblocking", no_locks)
    with lock(tmp_path / "out"):
        ran += 1

    assert ran == 2


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
