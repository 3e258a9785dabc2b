"""
Repairs AllenNLP 2.10.1 where it fails with current versions of Python, PyTorch and NumPy.

Two classes are registered under AllenNLP's own names, so that existing configs run unchanged. A
plugin cannot repair a failure in the import of AllenNLP itself. So `requirements.txt` pins the
packages on which the import depends.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, Instance, TensorDict, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.samplers import MaxTokensBatchSampler
from allennlp.nn.util import dist_reduce
from allennlp.nn.util import move_to_device as to_device
from allennlp.training.learning_rate_schedulers import (
    LearningRateScheduler,
    ReduceOnPlateauLearningRateScheduler,
)
from allennlp.training.learning_rate_schedulers.learning_rate_scheduler import (
    _PyTorchLearningRateSchedulerWithMetricsWrapper,
)
from torch import multiprocessing
from torch.optim.lr_scheduler import ReduceLROnPlateau

from elmo_tasks.in_allennlp.change import Change


@LearningRateScheduler.register("reduce_on_plateau", exist_ok=True)
class CompatibleReduceOnPlateau(ReduceOnPlateauLearningRateScheduler):
    """
    AllenNLP's `reduce_on_plateau` for a PyTorch that no longer takes the argument `verbose`.

    Registered as a `LearningRateScheduler` with name "reduce_on_plateau".

    # Parameters

    The parameters of AllenNLP's class, in the same order. `verbose` has no effect.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        threshold_mode: str = "rel",
        threshold: float = 1e-4,
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        scheduler = ReduceLROnPlateau(
            optimizer,
            mode=mode,
            factor=factor,
            patience=patience,
            threshold_mode=threshold_mode,
            threshold=threshold,
            cooldown=cooldown,
            min_lr=min_lr,
            eps=eps,
        )
        # The parent's __init__ would pass `verbose` to PyTorch, so the grandparent's is called.
        _PyTorchLearningRateSchedulerWithMetricsWrapper.__init__(self, scheduler)


@DataLoader.register("multiprocess", exist_ok=True)
class CompatibleMultiProcessDataLoader(MultiProcessDataLoader):
    """
    AllenNLP's `multiprocess` data loader with two repairs: its workers can also be spawned, and
    every process of a distributed training gets the same number of batches.

    AllenNLP gives every worker a lock of the default start method. Python refuses to send that lock
    to a worker with another start method, such as `start_method: "spawn"`.

    In distributed training, AllenNLP ends an epoch or a validation as soon as one process has no
    more batches, and drops the batches that other processes still have. Here a process with fewer
    batches halves its largest batches, so nothing is dropped. This needs all instances in memory.
    With `max_instances_in_memory`, AllenNLP's behaviour remains.

    Registered as a `DataLoader` with name "multiprocess".
    """

    collate_fn: Any
    _num_batches: int | None = None

    def index_with(self, vocab: Vocabulary) -> None:
        super().index_with(vocab)
        if self._is_shared():
            self._num_batches = _largest(super().__len__())

    def __len__(self) -> int:
        return super().__len__() if self._num_batches is None else self._num_batches

    def _is_shared(self) -> bool:
        return is_distributed() and self.max_instances_in_memory is None

    def _instances_to_batches(
        self, instance_iterator: Iterable[Instance], move_to_device: bool
    ) -> Iterator[TensorDict]:
        if not self._is_shared():
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

    def _start_instance_workers(self, queue: Any, ctx: Any) -> Any:
        with _use_locks_of(ctx):
            return super()._start_instance_workers(queue, ctx)

    def _start_batch_workers(self, queue: Any, ctx: Any) -> Any:
        with _use_locks_of(ctx):
            return super()._start_batch_workers(queue, ctx)


def _largest(number: int) -> int:
    """Returns the largest of the numbers that the processes have."""
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
                "fewer "
                "processes"
            )
        half = len(batches[index]) // 2
        batches[index : index + 1] = [batches[index][:half], batches[index][half:]]
    return batches


@contextmanager
def _use_locks_of(ctx: Any) -> Iterator[None]:
    """Lets `multiprocessing.RLock()` return locks of `ctx`, the context that starts the workers."""
    default: Callable[[], Any] = multiprocessing.RLock
    multiprocessing.RLock = ctx.RLock
    try:
        yield
    finally:
        multiprocessing.RLock = default


_groups_of_max_size = MaxTokensBatchSampler._lazy_groups_of_max_size


def _groups_with_items(sampler: MaxTokensBatchSampler, *args: Any) -> Iterator[list[Any]]:
    return filter(None, _groups_of_max_size(sampler, *args))


CHANGES = (
    Change(
        MaxTokensBatchSampler,
        "_lazy_groups_of_max_size",
        _groups_with_items,
        "If all instances are longer than max_tokens, AllenNLP makes an empty batch.",
    ),
)


def allow_numpy_scalars() -> None:
    """
    Lets `torch.load` read NumPy scalars although `weights_only` stays on.

    Some schedulers (`cosine`) and metrics put NumPy scalars in the training state. `--recover`
    would otherwise refuse such a checkpoint.
    """
    # The function that unpickles NumPy's scalars has no public name.
    scalar = np.float64().__reduce__()[0]
    kinds = (np.bool_, np.int32, np.int64, np.float32, np.float64)
    dtypes = [type(np.dtype(kind)) for kind in kinds]
    torch.serialization.add_safe_globals([scalar, np.dtype, *dtypes])


def ignore_amp_warning() -> None:
    """Silences the warning about `torch.cuda.amp` that AllenNLP's trainer causes."""
    warnings.filterwarnings(
        "ignore",
        message=r".*torch\.cuda\.amp\.",
        category=FutureWarning,
        module=r"allennlp\.",
    )
