import os
import time
from typing import Any

import torch
from allennlp.training import GradientDescentTrainer, TrainerCallback

from elmo_tasks.files import written_aside
from elmo_tasks.readers.corpus_loader import CorpusLoader


@TrainerCallback.register("elmo_pretraining")
class PretrainingCallback(TrainerCallback):
    """
    What pre-training a biLM needs beside AllenNLP's trainer: after every epoch, and at the end with
    the best weights, `options.json` and `weights.hdf5` lie beside the checkpoints; a training that
    is recovered reads nothing of its finished epochs and knows which was the best; progress says
    tokens per second and, where the vocabulary knows how much text there is, the hours left.

    Registered as a `TrainerCallback` with name "elmo_pretraining".
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._total_batches = 0
        self._since = time.monotonic()
        self._batches = self._tokens = 0

    def on_start(
        self, trainer: GradientDescentTrainer, is_primary: bool = True, **kwargs: Any
    ) -> None:
        super().on_start(trainer, is_primary, **kwargs)
        if isinstance(trainer.data_loader, CorpusLoader):
            done = trainer._start_after_batches_in_epoch_completed
            trainer.data_loader.skip(
                trainer._start_after_epochs_completed,
                done * trainer._num_gradient_accumulation_steps,
            )
            # Schedules count on; the trainer counts the batches of the unfinished epoch itself.
            trainer._total_batches_completed = self._total_batches - done
        if is_primary:
            self._keep_best(trainer)
        self._since = time.monotonic()

    def _keep_best(self, trainer: GradientDescentTrainer) -> None:
        """
        AllenNLP saves its checkpoint at the end of an epoch before it notes that the epoch is the
        best and keeps its weights, so that a recovered training would not know.
        """
        completed = trainer._start_after_epochs_completed
        if not completed or trainer._start_after_batches_in_epoch_completed:
            return
        if trainer._metric_tracker.is_best_so_far():
            trainer._best_model_filename = os.path.join(self.serialization_dir, "best.th")
            with written_aside(trainer._best_model_filename) as aside:
                torch.save(trainer.model.state_dict(), aside)

    def on_batch(
        self,
        trainer: GradientDescentTrainer,
        batch_inputs: Any,
        batch_outputs: Any,
        batch_metrics: dict[str, Any],
        epoch: int,
        batch_number: int,
        is_training: bool,
        **kwargs: Any,
    ) -> None:
        if not is_training:
            return
        self._total_batches = trainer._total_batches_completed
        self._batches += 1
        self._tokens += sum(int(outputs["num_tokens"]) for outputs in batch_outputs)
        seconds = time.monotonic() - self._since
        batch_metrics["tokens_per_second"] = self._tokens / seconds
        try:
            num_batches = len(trainer.data_loader) / trainer._num_gradient_accumulation_steps
        except TypeError:
            return
        batches_left = trainer._num_epochs * num_batches - self._total_batches
        batch_metrics["hours_left"] = max(0, batches_left) * seconds / self._batches / 3600

    def on_epoch(
        self,
        trainer: GradientDescentTrainer,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        if is_primary:
            trainer.model.bilm.to_files(self.serialization_dir)

    def on_end(
        self,
        trainer: GradientDescentTrainer,
        metrics: dict[str, Any] = None,
        epoch: int = None,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        # A training that failed or was stopped has no metrics, and weights of no epoch.
        if is_primary and metrics is not None:
            trainer.model.bilm.to_files(self.serialization_dir)

    def state_dict(self) -> dict[str, Any]:
        return {"total_batches": self._total_batches}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._total_batches = state_dict["total_batches"]
