"""Helpers for torch.distributed: the rank of a process, and tensors and files for all processes."""

import os
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import torch
from torch import distributed


class Rank(NamedTuple):
    """
    # Parameters

    process: The index of this process among all processes of a training run.
    num_processes: Number of processes; 1 outside distributed training.
    """

    process: int
    num_processes: int


def rank() -> Rank:
    """Returns the rank of this process among the processes of `torch.distributed`."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return Rank(0, 1)
    return Rank(distributed.get_rank(), distributed.get_world_size())


def device_of_group() -> torch.device:
    """Returns the device on which the processes exchange tensors."""
    if distributed.get_backend() == "nccl":
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


@torch.no_grad()
def broadcast(tensors: Iterable[torch.Tensor]) -> None:
    """
    Copies the values of tensors from process 0 to every process. Does nothing in a single process.
    """
    if rank().num_processes > 1:
        for tensor in tensors:
            distributed.broadcast(tensor, 0)


def broadcast_file(path: str | os.PathLike | None) -> BytesIO | None:
    """
    Returns the content of a file in every process. Only process 0 reads the file. If `path` is
    `None` in process 0, every process returns `None`.
    """
    content = [Path(path).read_bytes() if rank().process == 0 and path is not None else None]
    distributed.broadcast_object_list(content, device=device_of_group())
    return None if content[0] is None else BytesIO(content[0])
