import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import Any, TypeVar

from elmo_tasks.common.errors import ConfigurationError, check_positive
from elmo_tasks.common.threads import one_thread

Part = TypeVar("Part")
Result = TypeVar("Result")

# In a worker process, the argument `work` of `in_processes`.
_work: list[Callable[[Any], Any]] = []


def in_processes(
    num_processes: int, work: Callable[[Part], Result], parts: Iterable[Part]
) -> Iterator[Result]:
    """
    Yields the result of `work` for each part, in order, as `map` does. Several processes of one
    thread each compute the results. They are forked and share the memory of the weights; on
    Windows, each process gets a copy of `work`. A biLM in `work` must be on the CPU; call
    `one_thread()` before you load it. Raises the error of a process, or `ConfigurationError` if a
    process was killed.
    """
    check_positive("the number of processes", num_processes)
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if can_fork else "spawn")
    with ProcessPoolExecutor(num_processes, context, _begin, (work,)) as pool:
        running: deque[Future[Result]] = deque()
        try:
            for part in parts:
                running.append(pool.submit(_run, part))
                if len(running) > 2 * num_processes:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except BrokenProcessPool as error:
            raise ConfigurationError(
                "a process was killed, perhaps for lack of memory; run the same command again, "
                "with fewer processes"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(work: Callable[[Any], Any]) -> None:
    # These signals end a worker at once. It has inherited the handlers of its parent.
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    one_thread()
    _work[:] = [work]


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _run(part: Any) -> Any:
    return _work[0](part)
