from collections.abc import Iterable, Iterator
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.data import Instance, TensorDict
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.nn.util import dist_reduce
from allennlp.nn.util import move_to_device as to_device


class SharedDataLoader(MultiProcessDataLoader):
    """
    AllenNLP's `multiprocess` data loader. In distributed training, AllenNLP ends an epoch as soon
    as one process has no more batches, and drops those of the others. After `share`, a process with
    fewer batches halves its largest ones instead. This needs all instances in memory.
    """

    collate_fn: Any
    _num_batches: int | None = None

    def share(self) -> None:
        """Makes the same number of batches in every process. All processes must call this."""
        if is_distributed() and self.max_instances_in_memory is None:
            self._num_batches = _largest(super().__len__())

    def __len__(self) -> int:
        return super().__len__() if self._num_batches is None else self._num_batches

    def _instances_to_batches(
        self, instance_iterator: Iterable[Instance], move_to_device: bool
    ) -> Iterator[TensorDict]:
        if self._num_batches is None:
            yield from super()._instances_to_batches(instance_iterator, move_to_device)
            return
        collate, self.collate_fn = self.collate_fn, list
        try:
            batches = list(super()._instances_to_batches(instance_iterator, False))
        finally:
            self.collate_fn = collate
        for batch in _split(batches, _largest(len(batches)), self.data_path):
            tensors = collate(batch)
            yield tensors if self.cuda_device is None else to_device(tensors, self.cuda_device)


def _largest(number: int) -> int:
    """Returns the largest number of any process."""
    return dist_reduce(number, torch.distributed.ReduceOp.MAX)


def _split(batches: list[list[Instance]], num_batches: int, path: Any) -> list[list[Instance]]:
    """Halves the largest batches until there are `num_batches`, and returns all batches."""
    batches = list(batches)
    while len(batches) < num_batches:
        index = max(range(len(batches)), key=lambda index: len(batches[index]), default=None)
        if index is None or len(batches[index]) == 1:
            raise ConfigurationError(
                f"{path} has too few instances: another process has {num_batches} batches, but "
                f"this process only {sum(map(len, batches))} instances; use larger batches or "
                "fewer processes"
            )
        half = len(batches[index]) // 2
        batches[index : index + 1] = [batches[index][:half], batches[index][half:]]
    return batches
