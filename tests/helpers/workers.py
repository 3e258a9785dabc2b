"""Runs the processes of a distributed training as forks, which need not import AllenNLP again."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from torch import multiprocessing

from elmo_tasks.commands.in_allennlp.train_command import train_model
from tests.helpers.processes import end, start

DISTRIBUTED = """{
  distributed: { cuda_devices: [-1, -1] },
  trainer: std.mergePatch(super.trainer, { cuda_device: null }),
}"""


def train(config: dict[str, Any], folder: Path, recover: bool = False) -> None:
    """Trains as `elmo-tasks train` does."""
    with forked_workers():
        train_model(Params(copy.deepcopy(config)), str(folder), recover=recover)


@contextmanager
def forked_workers() -> Iterator[None]:
    """Lets AllenNLP fork the processes of a training instead of spawning them."""

    def fork(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        forking = partial(multiprocessing.start_processes, start_method="fork")
        return forking(partial(_with_one_thread, work), *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiprocessing, "spawn", fork)
        # The plugin is imported already, and looking for plugins takes a second each time.
        patch.setattr("allennlp.commands.train.import_plugins", lambda: None)
        yield


def together(work: Callable[[int], object], folder: Path, num_processes: int = 2) -> None:
    """Runs `work(rank)` in forks that make up a process group; asserts that all end well."""

    def join(rank: int) -> None:
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{folder}/group", world_size=num_processes, rank=rank
        )
        _with_one_thread(work, rank)
        torch.distributed.barrier()

    processes = [start(partial(join, rank)) for rank in range(num_processes)]
    assert [end(process) for process in processes] == num_processes * [0]


def _with_one_thread(work: Callable[..., Any], *args: Any) -> Any:
    # A fork lacks the threads that its parent had for operators.
    torch.set_num_threads(1)
    return work(*args)
