"""Chooses how many threads PyTorch uses in this process. Importing this module changes nothing."""

import os

import torch

# The environment variables by which a user chooses the number of threads.
_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")

# Whether a biLM computes two parts of a batch at once; `None` if the number of threads decides.
_divides: bool | None = None


def num_cores() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def choose_threads(num_threads: int | None) -> None:
    """
    Gives each PyTorch operator `num_threads` threads, in this process and its child processes. With
    `None`, environment variables such as `OMP_NUM_THREADS` decide; if none is set, calls
    `few_threads`.
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
    Makes this process compute on one thread. A process that will be forked must call this before it
    loads a biLM. Otherwise the forked process waits for ever, for threads that only its parent has.
    """
    _set_threads(1, divides=False)


def few_threads() -> None:
    """
    Gives each PyTorch operator a quarter of the cores, and lets a biLM compute two parts of a batch
    at the same time. PyTorch's default is all cores, but then another busy program makes PyTorch
    much slower.
    """
    _set_threads(max(1, num_cores() // 4), divides=num_cores() > 1)


def divides() -> bool:
    """Returns whether a biLM computes two parts of a batch at once."""
    return torch.get_num_threads() > 1 if _divides is None else _divides


def _set_threads(num_threads: int, divides: bool) -> None:
    global _divides
    _divides = divides
    torch.set_num_threads(num_threads)
