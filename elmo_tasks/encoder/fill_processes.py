import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import torch
from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError

Batch = Sequence[int]

# Seconds between two looks at what the processes have done.
_PAUSE = 0.5


class FillProcesses:
    """
    Computes batches in forks of this process. The forks share its weights and texts, since none of
    them writes to these, and each takes the next batch when it has computed one.

    # Parameters

    compute : `Callable`
        Computes a batch and stores its layers.
    batches : `Sequence[Sequence[int]]`
        The batches.
    sizes : `Sequence[int]`
        The number of tokens of each batch, for the progress bar.
    """

    def __init__(
        self, compute: Callable[[Batch], None], batches: Sequence[Batch], sizes: Sequence[int]
    ) -> None:
        if "fork" not in multiprocessing.get_all_start_methods():
            raise ConfigurationError(
                "several processes need a system that can fork one, such as Linux; on this system, "
                "leave out --processes"
            )
        self._compute = compute
        self._batches = batches
        self._sizes = sizes
        self._context = multiprocessing.get_context("fork")
        self._next: Any = self._context.Value("q", 0)
        self._done: Any = self._context.Value("q", 0)

    def run(self, num_processes: int, progress: tqdm) -> None:
        """
        Computes all batches. Raises the error of a process that fails, and `ConfigurationError` if
        a process is killed; the others then end after their batch.
        """
        before = progress.n
        executor = ProcessPoolExecutor(num_processes, self._context, _begin, (self,))
        with executor:
            running = {executor.submit(_work) for _ in range(num_processes)}
            try:
                while running:
                    ended, running = wait(running, _PAUSE, FIRST_EXCEPTION)
                    progress.update(before + self._done.value - progress.n)
                    for future in ended:
                        future.result()
            except BrokenProcessPool:
                raise ConfigurationError(
                    "a process was killed, perhaps because memory ran out; the layers that are in "
                    "the store are kept; give the same command again"
                ) from None
            finally:
                self._stop()

    def work(self) -> None:
        """Computes batches until none is left."""
        # The threads of this process's operators are not in its forks.
        torch.set_num_threads(1)
        while (index := self._take()) < len(self._batches):
            self._compute(self._batches[index])
            with self._done.get_lock():
                self._done.value += self._sizes[index]

    def _take(self) -> int:
        with self._next.get_lock():
            index = self._next.value
            self._next.value += 1
        return index

    def _stop(self) -> None:
        # Without the lock, which a process that was killed may hold.
        self._next.get_obj().value = len(self._batches)


# The work of a fork, which gets it by its memory and not by a pickle.
_work_of_this_fork: FillProcesses | None = None


def _begin(processes: FillProcesses) -> None:
    global _work_of_this_fork
    _work_of_this_fork = processes


def _work() -> None:
    assert _work_of_this_fork is not None
    _work_of_this_fork.work()
