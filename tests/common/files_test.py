import errno
import gzip
import lzma
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write, lock, write_whole
from tests.helpers import processes


def test_a_file_appears_when_it_is_whole_with_the_permissions_of_any_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    # The first file is in the working directory, and the second in a folder that does not exist.
    for name in ("text.txt", "new/folder/text.txt"):
        path = Path(name)
        with atomic_write(name) as aside:
            aside.write_text("half")
            assert not path.exists()
            aside.write_text("whole")

        assert path.read_text() == "whole"
        assert os.listdir(path.parent) == ["text.txt"]
        path.with_name("plain.txt").touch()
        assert path.stat().st_mode == path.with_name("plain.txt").stat().st_mode


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_file_that_is_not_finished_leaves_what_was_there(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "text.txt"
    for names in ([], ["text.txt"]):
        with pytest.raises(error), atomic_write(path) as aside:
            aside.write_text("half")
            raise error

        assert os.listdir(tmp_path) == names
        write_whole(path, "old")
    assert path.read_text() == "old"

    write_whole(str(path), b"new")

    assert path.read_text() == "new" and os.listdir(tmp_path) == ["text.txt"]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "full"), OSError("file write failed: No space left on device")]
)
def test_a_full_disk_is_named_by_the_file_that_was_to_be_written(
    tmp_path: Path, error: OSError
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("old")

    with pytest.raises(OSError, match="No space left on device: .*text.txt"), atomic_write(path):
        raise error

    assert path.read_text() == "old" and os.listdir(tmp_path) == ["text.txt"]


def test_pytorchs_error_on_a_full_disk_is_told_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = RuntimeError("[enforce fail at inline_container.cc:664] . unexpected pos 64 vs 0")

    with pytest.raises(RuntimeError), atomic_write(tmp_path / "weights.th"):
        raise error
    usage = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OSError, match="weights.th") as full, atomic_write(tmp_path / "weights.th"):
        raise error

    assert full.value.errno == errno.ENOSPC and full.value.__cause__ is error


@pytest.mark.parametrize("place", ["pipe", "device", "stdout"])
def test_a_pipe_a_device_or_an_open_file_is_not_replaced(place: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    # Links, so that a fault of the code under test would not replace the device.
    (tmp_path / "device").symlink_to("/dev/full")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")

    with pytest.raises(ConfigurationError, match=f"{place} is a device or a pipe"):
        write_whole(tmp_path / place, "text")

    assert sorted(os.listdir(tmp_path)) == ["device", "pipe", "stdout"]
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "device").is_char_device()


def test_a_link_to_a_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to("old.txt")

    with atomic_write(link) as aside:
        aside.write_text("new")

    assert link.read_text() == "new" and not link.is_symlink()
    assert (tmp_path / "old.txt").read_text() == "old"


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


def test_a_link_in_place_of_a_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".out.lock").symlink_to(tmp_path / "elsewhere")

    refused = pytest.raises(ConfigurationError, match=".out.lock must be a file for the lock of")
    with refused, lock(tmp_path / "out"):
        pass

    assert [path.name for path in tmp_path.iterdir()] == [".out.lock"]


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


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".XZ", lzma.open)])
def test_text_is_compressed_as_its_name_says(suffix: str, opener: Any, tmp_path: Path) -> None:
    write_whole(tmp_path / f"report.json{suffix}", "Łódź\r\n")

    with opener(tmp_path / f"report.json{suffix}") as file:
        assert file.read() == "Łódź\r\n".encode()
