import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager

from elmo_tasks.kernels.threads import operator_threads


@contextmanager
def threads_of_this_process() -> Iterator[None]:
    """
    Makes PyTorch use one thread within the context if this is a worker process, such as one of
    `nlp.pipe` with `n_process`. With more threads, a forked process would wait for ever for its
    parent's threads.
    """
    if multiprocessing.parent_process() is None:
        yield
    else:
        with operator_threads(1):
            yield
