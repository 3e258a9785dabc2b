"""The threads of this process. Importing this module changes none of them."""

import os

import torch

# The settings of a user that decide the number of threads.
_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")

# Whether a biLM computes two parts of a batch at once. `None`: if operators have several threads.
_divides: bool | None = None


def num_cores() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def choose_threads(num_threads: int | None) -> None:
    """
    Gives each PyTorch operator of this process, and of those that it starts, `num_threads` threads;
    for `None`, as many as the user's environment says, or else as `few_threads` does.
    """
    global _divides
    _divides = None
    if num_threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(num_threads)
        torch.set_num_threads(num_threads)
    elif not any(name in os.environ for name in _VARIABLES):
        few_threads()


def one_thread() -> None:
    """
    Makes this process compute on one thread. A process that will be forked calls this before it
    loads a biLM: a fork waits for ever for threads that PyTorch has started in its parent.
    """
    _set(1, divides=False)


def few_threads() -> None:
    """
    Gives each PyTorch operator a quarter of the cores, and lets a biLM compute two parts of a batch
    at once. With PyTorch's default, all cores, a busy program beside takes most of the speed away.
    """
    _set(max(1, num_cores() // 4), divides=num_cores() > 1)


def divides() -> bool:
    """Returns whether a biLM computes two parts of a batch at once."""
    return torch.get_num_threads() > 1 if _divides is None else _divides


def _set(num_threads: int, divides: bool) -> None:
    global _divides
    _divides = divides
    torch.set_num_threads(num_threads)
