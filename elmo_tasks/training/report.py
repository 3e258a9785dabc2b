import logging
import time
from datetime import timedelta
from typing import Any

from allennlp.training.callbacks import TrainerCallback

logger = logging.getLogger(__name__)


class EpochReport(TrainerCallback):
    """
    Logs a line after each epoch: its seconds, the loss, the metric that chooses the best epoch, and
    the time until the last epoch ends. Every `ElmoTrainer` has it.
    """

    def on_start(self, *args: Any, **kwargs: Any) -> None:
        self._began = self._epoch_began = time.monotonic()
        self._num_epochs = 0

    def on_epoch(
        self, trainer: Any, metrics: dict[str, Any], epoch: int, is_primary: bool = True, **_: Any
    ) -> None:
        now = time.monotonic()
        self._num_epochs += 1
        parts = [f"epoch {epoch + 1} of {trainer._num_epochs}: {now - self._epoch_began:.1f} s"]
        if "training_loss" in metrics:
            parts.append(f"loss {metrics['training_loss']:.4g}")
        for _, name in trainer._metric_tracker.tracked_metrics:
            # A metric that was always NaN has no best value.
            if f"best_validation_{name}" in metrics:
                best = f"best {metrics[f'best_validation_{name}']:.4g}"
                value = f"validation {name} {metrics[f'validation_{name}']:.4g}"
                parts.append(f"{value} ({best}, epoch {metrics['best_epoch'] + 1})")
        if left := trainer._num_epochs - epoch - 1:
            seconds = left * (now - self._began) / self._num_epochs
            parts.append(f"at most {timedelta(seconds=round(seconds))} left")
        if is_primary:
            logger.info("; ".join(parts))
        self._epoch_began = now
