import functools
import inspect
import logging
import os
import random
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import torch
from allennlp.nn import util
from allennlp.training import GradientDescentTrainer, Trainer, TrainerCallback
from allennlp.training.metric_tracker import MetricTracker
from allennlp.training.moving_average import MovingAverage
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write
from elmo_tasks.common.processes import rank
from elmo_tasks.common.progress import terminal_width
from elmo_tasks.common.text import did_you_mean
from elmo_tasks.common.threads import num_cores
from elmo_tasks.training.best_epoch import LossBreaksTies, OneClassWarning
from elmo_tasks.training.recovery import Recovery
from elmo_tasks.training.regularizer import warn_of_unused_regexes
from elmo_tasks.training.several_processes import (
    ElmoDdpAccelerator,
    SharedDataLoader,
    SharedModel,
    share_loss,
)

logger = logging.getLogger(__name__)


class EpochReport(TrainerCallback):
    """
    Logs a line after each epoch: its loss, the metric that chooses the best epoch, its seconds, and
    the time until the last epoch ends. A narrow terminal shows as many of these as fit. Every
    `ElmoTrainer` has this callback.
    """

    def on_start(self, *args: Any, **kwargs: Any) -> None:
        self._began = self._epoch_began = time.monotonic()
        self._num_epochs = 0

    def on_epoch(
        self, trainer: Any, metrics: dict[str, Any], epoch: int, is_primary: bool = True, **_: Any
    ) -> None:
        now = time.monotonic()
        self._num_epochs += 1
        parts = []
        if "training_loss" in metrics:
            parts.append(f"loss {metrics['training_loss']:.4g}")
        for _, name in trainer._metric_tracker.tracked_metrics:
            # A metric that was always NaN has no best value.
            if f"best_validation_{name}" in metrics:
                best = f"best {metrics[f'best_validation_{name}']:.4g}"
                value = f"{name} {metrics[f'validation_{name}']:.4g}"
                parts.append(f"{value} ({best}, epoch {metrics['best_epoch'] + 1})")
        if num_left := trainer._num_epochs - epoch - 1:
            seconds = num_left * (now - self._began) / self._num_epochs
            parts.append(f"{timedelta(seconds=round(seconds))} left")
        parts.append(f"{now - self._epoch_began:.1f} s")
        if "validation_unknown_tokens" in metrics:
            parts.append(f"unknown tokens {metrics['validation_unknown_tokens']:.0%}")
        if is_primary:
            logger.info(_fit_line(f"epoch {epoch + 1} of {trainer._num_epochs}: ", parts))
        self._epoch_began = now


def _fit_line(line: str, parts: list[str]) -> str:
    """Returns a line with the first parts, as many as fit on the terminal."""
    width, line_parts = terminal_width(), list[str]()
    for part in parts:
        if width is None or len(line) + len("; ".join([*line_parts, part])) <= width:
            line_parts.append(part)
    return line + "; ".join(line_parts)


@Trainer.register("elmo", constructor="from_partial_objects")
class ElmoTrainer(GradientDescentTrainer):
    """
    Extends AllenNLP's trainer for models with a frozen biLM. The weights of the biLM never change
    and may take 375 MB, so checkpoints contain only their hash. The weights are put back before the
    best model is archived. A training run that was killed and recovered on the same machine ends
    with the same weights and metrics as an uninterrupted training run, to the bit (see `Recovery`).

    Several processes (`distributed`) make the same steps as one process with all their batches.
    Only process 0 writes checkpoints, metrics and files.

    AllenNLP's trainer has no hooks for some of these changes, so seven of its private methods are
    extended. The loops over epochs and batches are AllenNLP's.

    Registered as a `Trainer` with name "elmo". It has the parameters of AllenNLP's
    `GradientDescentTrainer`.
    """

    _metric_tracker: MetricTracker
    _moving_average: MovingAverage | None
    _num_epochs: int
    data_loader: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # AllenNLP's trainer takes any parameter, and ignores unknown ones.
        parameters = inspect.signature(GradientDescentTrainer.__init__).parameters
        for name in kwargs.keys() - parameters.keys() - {"run_sanity_checks"}:
            raise ConfigurationError(
                f"the trainer has no parameter {name!r}{did_you_mean(name, parameters)}"
            )
        super().__init__(*args, **kwargs)
        if self._distributed:
            # AllenNLP would let one process of each node write.
            self._primary = rank().process == 0
            if index := rank().process:
                # With the same seed, all processes would draw the same dropout.
                torch.manual_seed(torch.initial_seed() + index)
            if self.cuda_device.type == "cpu" and "OMP_NUM_THREADS" not in os.environ:
                num_here = int(os.environ.get("ALLENNLP_PROCS_PER_NODE", rank().num_processes))
                torch.set_num_threads(max(1, num_cores() // num_here))
        tracked = [
            f"{'+' if sign > 0 else '-'}{name}"
            for sign, name in self._metric_tracker.tracked_metrics
        ]
        self._metric_tracker = LossBreaksTies(tracked, self._metric_tracker._patience)
        self._recovery = Recovery(self)
        folder = self._serialization_dir
        self._callbacks += [EpochReport(folder), OneClassWarning(folder), self._recovery]
        if self._primary:
            warn_of_unused_regexes(self.model)

    @classmethod
    @functools.wraps(GradientDescentTrainer.from_partial_objects.__func__)  # type: ignore[attr-defined]
    def from_partial_objects(cls, *args: Any, **kwargs: Any) -> Trainer:
        if kwargs.get("distributed") and kwargs.get("ddp_accelerator") is None:
            kwargs["ddp_accelerator"] = ElmoDdpAccelerator(cuda_device=kwargs["cuda_device"])
        for loader in (kwargs.get("data_loader"), kwargs.get("validation_data_loader")):
            if isinstance(loader, SharedDataLoader):
                loader.share()
        if getattr(kwargs.get("data_loader"), "num_workers", 0) > 1:
            logger.warning(
                "with several num_workers the order of the batches depends on their speed: two "
                "training runs of one seed differ, and a recovered one from one that was not killed"
            )
        return super().from_partial_objects(*args, **kwargs)

    def batch_outputs(self, batch: Any, for_training: bool) -> dict[str, torch.Tensor]:
        outputs = super().batch_outputs(batch, for_training)
        if "loss" in outputs:
            if outputs["loss"].isnan():
                raise ValueError(
                    f"the loss of epoch {self._epochs_completed + 1} is not a number (NaN) in "
                    f"{'training' if for_training else 'validation'}; try a smaller learning rate "
                    "or grad_norm, and look for NaN in word vectors"
                )
            if self._distributed:
                share_loss(self.model, batch, outputs)
        return outputs

    def rescale_gradients(self) -> float | None:
        if isinstance(self._ddp_wrapped_model, SharedModel):
            self._ddp_wrapped_model.average_gradients()
        return super().rescale_gradients()

    def get_checkpoint_state(self) -> TrainerCheckpoint | None:
        self._recovery.gather()
        checkpoint = super().get_checkpoint_state()
        if checkpoint is None:
            return None
        state = checkpoint.model_state
        for prefix, bilm in self._frozen_bilms():
            state = bilm.leave_out_weights(state, prefix)
        return TrainerCheckpoint(state, checkpoint.trainer_state)

    def _maybe_restore_checkpoint(self) -> None:
        """
        Restores the checkpoint as AllenNLP does. If the training run was killed before it wrote the
        file of the best weights, writes this file.
        """
        try:
            super()._maybe_restore_checkpoint()
        except ConfigurationError:
            raise
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            # If a state belongs to another training run, AllenNLP explains only a `RuntimeError`.
            raise RuntimeError(f"the training state does not fit: {error!r}") from error
        if self._ended_an_epoch() and self._metric_tracker.is_best_so_far():
            self._best_model_filename = self._best_path()
            if self._primary:
                average = self._moving_average
                if average is not None:
                    average.assign_average_value()
                self._save_model_state(self._best_path())
                if average is not None:
                    average.restore()

    def _ended_an_epoch(self) -> bool:
        """
        Returns whether the checkpoint of a recovered training run is from the end of an epoch.
        """
        num_epochs = self._start_after_epochs_completed
        return num_epochs > 0 and not self._start_after_batches_in_epoch_completed

    def _try_train(self) -> tuple[dict[str, Any], int]:
        """Trains no further if patience has run out. Returns the last metrics even then."""
        if self._ended_an_epoch() and self._metric_tracker.should_stop_early():
            # AllenNLP would train one more epoch.
            self._num_epochs = min(self._num_epochs, self._start_after_epochs_completed)
        metrics, epoch = super()._try_train()
        # If a recovered training run has no epoch left, `metrics` covers only its best epoch.
        return {**self._recovery.metrics, **metrics}, epoch

    def _train_epoch(self, epoch: int) -> dict[str, float]:
        """Continues an unfinished epoch with its random state and metrics."""
        with self._recovery.epoch(epoch) as resumes:
            metrics = super()._train_epoch(epoch)
        return self._recovery.epoch_metrics(metrics) if resumes else metrics

    def _validation_loss(self, epoch: int) -> tuple[float, float | None, int]:
        """Validates the weights that `validate_on` names. Leaves the random state as it was."""
        average = self._moving_average
        if getattr(average, "validate_on", None) == "raw":
            self._moving_average = None
        # Validation must not draw random numbers: a recovered training run skips the validation of
        # finished epochs, but its loader must still make the same batches.
        random_state = random.getstate()
        # With `batches_per_epoch`, AllenNLP's loader would go on where the last validation ended,
        # which a recovered training run does not know.
        setattr(self._validation_data_loader, "_batch_generator", None)  # noqa: B010
        try:
            return super()._validation_loss(epoch)
        finally:
            random.setstate(random_state)
            self._moving_average = average

    def _finalize_best_model_state(self) -> None:
        """Puts the weights of the frozen biLMs back into the file of the best weights."""
        super()._finalize_best_model_state()
        if self._serialization_dir and os.path.exists(self._best_path()):
            state = util.read_state_dict(self._best_path(), cuda_device=-1)
            whole = state
            for prefix, bilm in self._frozen_bilms():
                whole = bilm.put_back_weights(whole, prefix)
            if whole is not state:
                with atomic_write(self._best_path()) as aside:
                    torch.save(whole, aside)

    def _frozen_bilms(self) -> Iterator[tuple[str, FrozenBiLm]]:
        """Yields pairs: the prefix of a frozen biLM in the model's state dict, and the biLM."""
        for name, module in self.model.named_modules(remove_duplicate=False):
            if isinstance(module, FrozenBiLm):
                yield f"{name}.", module

    def _save_model_state(self, path: str) -> None:
        """Makes the file appear whole or not at all."""
        with atomic_write(path) as aside:
            super()._save_model_state(str(aside))

    def _load_model_state(self, path: str) -> None:
        """Loads the best weights in process 0, the only one that saved them and needs them."""
        if self._primary:
            super()._load_model_state(path)

    def _best_path(self) -> str:
        return os.path.join(self._serialization_dir, "best.th")
