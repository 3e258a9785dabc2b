"""
Mends for what broke in AllenNLP 2.10.1 as Python, PyTorch and NumPy went on.

Two classes are registered under AllenNLP's own names, so that existing configs run unchanged. What
breaks while AllenNLP itself is imported cannot be mended by a plugin; `requirements.txt` pins it.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from allennlp.data import DataLoader
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.training.learning_rate_schedulers import (
    LearningRateScheduler,
    ReduceOnPlateauLearningRateScheduler,
)
from allennlp.training.learning_rate_schedulers.learning_rate_scheduler import (
    _PyTorchLearningRateSchedulerWithMetricsWrapper,
)
from torch import multiprocessing
from torch.optim.lr_scheduler import ReduceLROnPlateau


@LearningRateScheduler.register("reduce_on_plateau", exist_ok=True)
class CompatibleReduceOnPlateau(ReduceOnPlateauLearningRateScheduler):
    """
    AllenNLP's `reduce_on_plateau`, which passes PyTorch an argument it has dropped.

    # Parameters

    The same as AllenNLP's, in the same order. `verbose` is accepted and has no effect.
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
        # Not the parent's __init__, which is the broken one.
        _PyTorchLearningRateSchedulerWithMetricsWrapper.__init__(self, scheduler)


@DataLoader.register("multiprocess", exist_ok=True)
class CompatibleMultiProcessDataLoader(MultiProcessDataLoader):
    """
    AllenNLP's `multiprocess` data loader, with workers that can also be spawned.

    AllenNLP hands every worker a lock of the default start method, which Python refuses to send to
    a worker of another one (`start_method: "spawn"`).
    """

    def _start_instance_workers(self, queue: Any, ctx: Any) -> Any:
        with _use_locks_of(ctx):
            return super()._start_instance_workers(queue, ctx)

    def _start_batch_workers(self, queue: Any, ctx: Any) -> Any:
        with _use_locks_of(ctx):
            return super()._start_batch_workers(queue, ctx)


@contextmanager
def _use_locks_of(ctx: Any) -> Iterator[None]:
    """Makes `multiprocessing.RLock()` a lock of `ctx`, the context that starts the workers."""
    default: Callable[[], Any] = multiprocessing.RLock
    multiprocessing.RLock = ctx.RLock
    try:
        yield
    finally:
        multiprocessing.RLock = default


def _allow_numpy_scalars() -> None:
    """
    Lets `torch.load` read NumPy scalars with `weights_only`, which stays on.

    Some schedulers (`cosine`) and metrics leave them in the training state, and `--recover` then
    refuses the checkpoint.
    """
    # The function that NumPy pickles its scalars with has no public name.
    scalar = np.float64().__reduce__()[0]
    kinds = (np.bool_, np.int32, np.int64, np.float32, np.float64)
    dtypes = [type(np.dtype(kind)) for kind in kinds]
    torch.serialization.add_safe_globals([scalar, np.dtype, *dtypes])


def _ignore_amp_warning() -> None:
    """Silences the notice on `torch.cuda.amp` that every loop of AllenNLP's trainer causes."""
    warnings.filterwarnings(
        "ignore",
        message=r".*torch\.cuda\.amp\.",
        category=FutureWarning,
        module=r"allennlp\.",
    )


_allow_numpy_scalars()
_ignore_amp_warning()
