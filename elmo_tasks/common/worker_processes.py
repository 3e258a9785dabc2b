import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing import connection
from typing import Any

import torch
from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError, check_positive

# The maximum number of processes that are tried for a part, if each of them is killed.
_TRIES = 5

_PR_SET_PDEATHSIG = 1


def in_processes(
    num_processes: int,
) -> Callable[[Any, Iterable[Any], tqdm], Iterator[Any]]:
    """
    Returns an `Engine` that does parts in several processes of this machine. A part is a `Part`, or
    anything else with `ids` and `num_tokens` that can be pickled. The processes are forks of this
    process, so they share the memory of the weights. Each has one thread. On Windows, which has no
    forks, each process gets a copy of the work. If a process is killed, a new process does its
    part.

    Call `torch.set_num_threads(1)` before the biLM is loaded: a fork waits for ever for the threads
    that PyTorch has started in its parent. The biLM must be on the CPU.

    # Parameters

    num_processes: The number of processes, at best the number of the CPU's cores.

    # Raises

    `ConfigurationError`: Five processes were killed while they did the same part, or the number of
        processes is less than 1. An error of a process is raised here as well.
    """
    check_positive("the number of processes", num_processes)
    return partial(_in_processes, num_processes)


def _in_processes(
    num_processes: int, work: Callable[..., Any], parts: Iterable[Any], progress: tqdm
) -> Iterator[Any]:
    idle: list[_Worker] = []
    busy: dict[Any, _Worker] = {}
    again: list[tuple[Any, int]] = []
    new = ((part, 1) for part in parts)
    try:
        while True:
            while len(busy) < num_processes and (task := again.pop() if again else next(new, None)):
                worker = idle.pop() if idle else _Worker(work)
                worker.begin(*task)
                busy[worker.pipe] = worker
            if not busy:
                return
            for pipe in connection.wait(list(busy)):
                worker = busy[pipe]
                is_done = worker.end()
                del busy[pipe]
                if is_done:
                    idle.append(worker)
                    progress.update(worker.part.num_tokens)
                    yield worker.part
                else:
                    again.append((worker.part, _next_try(worker, worker.part)))
    finally:
        for worker in [*idle, *busy.values()]:
            worker.stop()


class _Worker:
    """A process that does one part at a time."""

    def __init__(self, work: Callable[..., Any]) -> None:
        context = new_processes()
        self.pipe, end = context.Pipe()
        self.process = context.Process(target=_serve, args=(work, end, os.getpid()), daemon=True)
        self.process.start()
        # Only the process holds this end of the pipe, so the pipe closes when the process dies.
        end.close()
        self.part: Any = None
        self.tries = 0

    def begin(self, part: Any, tries: int) -> None:
        self.part, self.tries = part, tries
        # If the process is dead, `end` notices it.
        with contextlib.suppress(OSError):
            self.pipe.send(part)

    def end(self) -> bool:
        """
        Returns `False` if the process died before the part was done. Raises the error that the part
        raised, if any.
        """
        try:
            error = self.pipe.recv()
        except (EOFError, OSError):
            self.stop()
            return False
        if error is not None:
            raise error
        return True

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def new_processes() -> Any:
    """
    Returns a context of `multiprocessing` that starts processes by a fork, or on Windows by
    spawning.
    """
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork" if can_fork else "spawn")


def _next_try(worker: _Worker, part: Any) -> int:
    if worker.tries == _TRIES:
        raise ConfigurationError(
            f"{_TRIES} processes died on sentences {part.ids[0]} to {part.ids[-1]} (exit status "
            f"{worker.process.exitcode}), perhaps for lack of memory; use fewer processes or "
            "smaller batches"
        )
    return worker.tries + 1


def _serve(work: Callable[..., Any], pipe: Any, parent: int) -> None:
    """Does each part that comes through the pipe, and answers with its error or `None`."""
    end_with(parent)
    # Ctrl-C reaches all processes, and the parent stops the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)
    while True:
        try:
            part = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            work(part)
            answer = None
        except Exception as error:
            answer = error
        try:
            pipe.send(answer)
        except Exception:
            # Not every error can be pickled.
            pipe.send(RuntimeError(f"{type(answer).__name__}: {answer}"))


def end_with(parent: int) -> None:
    """Lets the kernel kill this process when its parent ends, however the parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
