import errno
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.worker_processes import in_processes
from tests.helpers.processes import end, spawned_as_forks, start

WEIGHT = torch.zeros(3)


def square(number: int) -> int:
    return number**2


@pytest.mark.parametrize("num_processes", [1, 3])
def test_the_results_are_those_of_map_in_order(num_processes: int) -> None:
    assert list(in_processes(num_processes, square, range(20))) == list(map(square, range(20)))


def test_processes_that_are_copies_do_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])

    with spawned_as_forks():
        assert list(in_processes(2, abs, range(-3, 3))) == [3, 2, 1, 0, 1, 2]


def test_parts_are_taken_only_as_they_are_needed() -> None:
    taken = []

    def parts() -> Any:
        for index in range(100):
            taken.append(index)
            yield index

    results: Any = in_processes(2, square, parts())

    assert [next(results), next(results)] == [0, 1]
    assert len(taken) <= 7
    results.close()
    assert not multiprocessing.active_children()


@pytest.mark.fork
def test_a_killed_process_is_an_error_that_says_how_to_go_on() -> None:
    parent = os.getpid()

    def kill_at_5(number: int) -> int:
        if number == 5 and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(
        ConfigurationError, match="a process was killed.* again, with fewer processes$"
    ):
        list(in_processes(2, kill_at_5, range(12)))
    assert not multiprocessing.active_children()


@pytest.mark.fork
def test_an_error_in_a_process_is_raised_and_ends_the_others() -> None:
    def full(number: int) -> None:
        if number == 5:
            raise OSError(errno.ENOSPC, "No space left on device", "out")

    with pytest.raises(OSError) as caught:
        list(in_processes(2, full, range(12)))

    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "out")
    assert not multiprocessing.active_children()


def test_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    def wait(_: int) -> None:
        (tmp_path / str(os.getpid())).touch()
        time.sleep(60)

    parent = start(lambda: list(in_processes(2, wait, range(12))))
    deadline = time.monotonic() + 50
    while len(pids := [int(path.name) for path in tmp_path.iterdir()]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)

    os.kill(parent, signal.SIGKILL)

    assert end(parent) == -signal.SIGKILL
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


@pytest.mark.fork
def test_a_process_has_one_thread_and_the_weights_of_its_parent() -> None:
    def look(_: int) -> tuple[int, int]:
        return torch.get_num_threads(), WEIGHT.data_ptr()

    assert set(in_processes(2, look, range(4))) == {(1, WEIGHT.data_ptr())}


def test_the_number_of_processes_is_checked() -> None:
    with pytest.raises(ConfigurationError):
        list(in_processes(0, square, range(3)))
