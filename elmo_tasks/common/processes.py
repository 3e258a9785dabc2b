"""Tells a process its rank, and sends tensors and files to all processes."""

import os
from collections.abc import Iterable
from io import BytesIO
from typing import NamedTuple

import torch
from torch import distributed

# Bytes of a file that are sent at a time.
_CHUNK = 1 << 26


class Rank(NamedTuple):
    """
    # Parameters

    process: The index of this process among all processes of a training.
    num_processes: Number of processes; 1 outside distributed training.
    """

    process: int
    num_processes: int


def num_cores() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    """Sets the tensors of every process to those of process 0. Does nothing in a single process."""
    if rank().num_processes > 1:
        for tensor in tensors:
            distributed.broadcast(tensor, 0)


def broadcast_file(path: str | os.PathLike | None) -> BytesIO | None:
    """
    Returns the content of a file in every process. Only process 0 reads the file. If `path` is
    `None` in process 0, every process returns `None`.
    """
    device = device_of_group()
    size = torch.tensor([-1 if path is None else os.path.getsize(path)], device=device)
    distributed.broadcast(size, 0)
    if size.item() < 0:
        return None
    content = bytearray(int(size))
    if rank().process == 0 and path is not None:
        with open(path, "rb") as file:
            file.readinto(content)
    for start in range(0, len(content), _CHUNK):
        part = torch.frombuffer(memoryview(content)[start : start + _CHUNK], dtype=torch.uint8)
        sent = part.to(device)
        distributed.broadcast(sent, 0)
        part.copy_(sent)
    return BytesIO(content)
