from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

from elmo_tasks.common.threads import divides

T = TypeVar("T")
R = TypeVar("R")

# From this number of multiplications on, a product is divided among threads. The number is an
# estimate: it has no effect on machines with two cores, and no others were measured.
_SHARED_PRODUCT = 1 << 24


@contextmanager
def operator_threads(num_threads: int) -> Iterator[None]:
    """Lets each PyTorch operator that this thread calls use at most `num_threads` threads."""
    before = torch.get_num_threads()
    if before <= num_threads:
        yield
        return
    torch.set_num_threads(num_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def two_at_once(allowed: bool, num_multiplications: int) -> Iterator[bool]:
    """
    Yields whether two operators may run at the same time, each on half of the threads. If there are
    few multiplications, an operator gets only one thread.
    """
    num_threads = torch.get_num_threads()
    if not (allowed and divides()):
        yield False
        return
    share = num_threads // 2 if num_multiplications >= _SHARED_PRODUCT else 1
    with operator_threads(max(1, share)):
        yield True


def for_each(work: Callable[[T], R], items: Sequence[T], at_once: bool) -> list[R]:
    """
    Returns the result of `work` for each item. With `at_once`, the items are computed at the same
    time, each on its own thread, and without gradients.
    """
    if not at_once:
        return [work(item) for item in items]
    num_threads, inference = torch.get_num_threads(), torch.is_inference_mode_enabled()

    def on_another_thread(item: T) -> R:
        torch.set_num_threads(num_threads)
        with torch.inference_mode(inference), torch.no_grad():
            return work(item)

    # The threads end with this call, because a fork of the process would not have them.
    with ThreadPoolExecutor(max(1, len(items) - 1)) as pool:
        futures = [pool.submit(on_another_thread, item) for item in items[1:]]
        with torch.no_grad():
            first = [work(item) for item in items[:1]]
        return first + [future.result() for future in futures]
