import logging
import time
from typing import Any

from allennlp.training.callbacks import TrainerCallback

logger = logging.getLogger(__name__)


class EpochReport(TrainerCallback):
    """
    Logs a line after each epoch: its seconds, training batches a second, the loss, the metric that
    chooses the best epoch, and the time until the last epoch ends. Every `ElmoTrainer` has it.
    """

    def on_start(self, *args: Any, **kwargs: Any) -> None:
        self._began = self._epoch_began = self._trained = time.monotonic()
        self._num_epochs = self._num_batches = 0

    def on_batch(self, trainer: Any, *args: Any, is_training: bool, **kwargs: Any) -> None:
        if is_training:
            self._num_batches += 1
            self._trained = time.monotonic()

    def on_epoch(
        self, trainer: Any, metrics: dict[str, Any], epoch: int, is_primary: bool = True, **_: Any
    ) -> None:
        now = time.monotonic()
        self._num_epochs += 1
        rate = self._num_batches / max(self._trained - self._epoch_began, 1e-9)
        seconds = now - self._epoch_began
        when = f"epoch {epoch + 1} of {trainer._num_epochs}"
        parts = [f"{when}: {seconds:.1f} s, {rate:.1f} batches a second"]
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
            parts.append(f"at most {_span(seconds)} left")
        if is_primary:
            logger.info("; ".join(parts))
        self._epoch_began, self._num_batches = now, 0


def _span(seconds: float) -> str:
    """Returns a time with its unit: `50 s`, `12 min` or `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
