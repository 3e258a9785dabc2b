"""Chooses the best epoch of a training run, and warns if its model predicts only one class."""

import logging
import math
from collections.abc import Sequence
from typing import Any

import torch
from allennlp.common.util import is_distributed
from allennlp.training import TrainerCallback
from allennlp.training.metric_tracker import MetricTracker

logger = logging.getLogger(__name__)


class LossBreaksTies(MetricTracker):
    """
    Extends AllenNLP's tracker of the best epoch. Of epochs with equal scores, the epoch with the
    lowest validation loss is the best. Patience counts the epochs without a better score, as in
    AllenNLP.
    """

    _is_best_so_far: bool

    def add_metrics(self, metrics: dict[str, float]) -> None:
        best = self._best_so_far
        super().add_metrics(metrics)
        is_lower = metrics.get("loss", math.inf) < self.best_epoch_metrics.get("loss", -math.inf)
        if not self._is_best_so_far and is_lower and self.combined_score(metrics) == best:
            self._is_best_so_far = True
            self.best_epoch = self._epoch_number - 1


class OneClassWarning(TrainerCallback):
    """
    Warns at the end of a training run if the model of the best epoch predicts the same class for
    all validation data. The model must have `logits` of shape (batch, classes). Every `ElmoTrainer`
    has this callback.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        # The classes that were predicted in this epoch, and in the best one.
        self._classes: set[int] = set()
        self._best: list[int] = []

    def on_batch(
        self,
        trainer: Any,
        batch_inputs: Any,
        batch_outputs: Sequence[dict[str, Any]],
        *args: Any,
        is_training: bool,
        **_: Any,
    ) -> None:
        if is_training:
            self._classes.clear()
            return
        for outputs in batch_outputs:
            logits = outputs.get("logits")
            if isinstance(logits, torch.Tensor) and logits.dim() == 2 and _is_classifier(trainer):
                self._classes.update(logits.argmax(dim=1).tolist())

    def on_epoch(self, trainer: Any, *args: Any, **_: Any) -> None:
        classes = self._classes
        if is_distributed():
            of_all: list[Any] = [None] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(of_all, classes)
            classes = set().union(*of_all)
        if trainer._metric_tracker.is_best_so_far():
            self._best = sorted(classes)

    def on_end(self, trainer: Any, *args: Any, is_primary: bool = True, **_: Any) -> None:
        if is_primary and len(self._best) == 1:
            model = trainer.model
            name = model.vocab.get_token_from_index(self._best[0], model.namespace)
            logger.warning(
                "the model always predicts one class, %r, for the validation data; train "
                "longer, with other settings, or on more data",
                name,
            )

    def state_dict(self) -> dict[str, Any]:
        return {"best": self._best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._best = state_dict.get("best", [])


def _is_classifier(trainer: Any) -> bool:
    """Returns whether a model chooses one class for a text, not several."""
    model = trainer.model
    return hasattr(model, "namespace") and not getattr(model, "several", False)
