"""
Repairs AllenNLP 2.10.1 where it fails with current versions of Python, PyTorch and NumPy. Importing
this module makes the repairs. Three classes take the place of AllenNLP's classes of the same
registered names, so existing configs run unchanged.
"""

import os
from typing import Any, Union

import numpy as np
import torch
from allennlp.data import DataLoader, Vocabulary
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN, DEFAULT_PADDING_TOKEN
from allennlp.training.learning_rate_schedulers import (
    LearningRateScheduler,
    ReduceOnPlateauLearningRateScheduler,
)
from allennlp.training.learning_rate_schedulers.learning_rate_scheduler import (
    _PyTorchLearningRateSchedulerWithMetricsWrapper,
)
from torch import multiprocessing
from torch.optim.lr_scheduler import ReduceLROnPlateau

from elmo_tasks.common.processes import rank
from elmo_tasks.common.replaced import replaced
from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary, counts_path
from elmo_tasks.training.several_processes import SharedDataLoader


@LearningRateScheduler.register("reduce_on_plateau", exist_ok=True)
class CompatibleReduceOnPlateau(ReduceOnPlateauLearningRateScheduler):
    """
    AllenNLP's `reduce_on_plateau` with the same parameters. `verbose`, which PyTorch 2.7 removed,
    has no effect.

    Registered as a `LearningRateScheduler` with name "reduce_on_plateau".
    """

    def __init__(
        self, optimizer: torch.optim.Optimizer, verbose: bool = False, **options: Any
    ) -> None:
        scheduler = ReduceLROnPlateau(optimizer, **options)
        # The parent's __init__ would pass `verbose` to PyTorch, so the grandparent's is called.
        _PyTorchLearningRateSchedulerWithMetricsWrapper.__init__(self, scheduler)


@DataLoader.register("multiprocess", exist_ok=True)
class CompatibleMultiProcessDataLoader(SharedDataLoader):
    """
    AllenNLP's `multiprocess` data loader, whose workers can also be spawned.

    AllenNLP makes its lock with the default start method. Since 3.11.5, Python refuses to send such
    a lock to a worker with another start method, such as `start_method: "spawn"`. This class makes
    the lock with the start method of the workers.

    Registered as a `DataLoader` with name "multiprocess".
    """

    def _start_instance_workers(self, queue: Any, ctx: Any) -> Any:
        with replaced(multiprocessing, RLock=ctx.RLock):
            return super()._start_instance_workers(queue, ctx)

    def _start_batch_workers(self, queue: Any, ctx: Any) -> Any:
        with replaced(multiprocessing, RLock=ctx.RLock):
            return super()._start_batch_workers(queue, ctx)


@Vocabulary.register("from_files", constructor="of_training", exist_ok=True)
class SavedVocabulary(Vocabulary):
    """
    Loads a vocabulary as AllenNLP's `from_files` does, but a vocabulary with counts becomes a
    `CountedVocabulary`. In a distributed training run, AllenNLP loads the vocabulary of the run by
    the type `from_files`, even if the config names another type.
    """

    @classmethod
    def of_training(
        cls,
        directory: Union[str, os.PathLike],
        padding_token: str = DEFAULT_PADDING_TOKEN,
        oov_token: str = DEFAULT_OOV_TOKEN,
    ) -> Vocabulary:
        is_counted = rank().num_processes > 1 and counts_path(directory).exists()
        kind = CountedVocabulary if is_counted else Vocabulary
        return kind.from_files(directory, padding_token, oov_token)


def allow_numpy_scalars() -> None:
    """
    Lets `torch.load` read NumPy scalars with `weights_only`, the default since PyTorch 2.6. Some
    metrics and schedulers, such as `cosine`, save such scalars in a checkpoint, and `--recover`
    reads it.
    """
    # The function that unpickles NumPy's scalars has no public name.
    scalar = np.float64().__reduce__()[0]
    kinds = (np.bool_, np.int32, np.int64, np.float32, np.float64)
    dtypes = [type(np.dtype(kind)) for kind in kinds]
    torch.serialization.add_safe_globals([scalar, np.dtype, *dtypes])


allow_numpy_scalars()
