"""The first training losses of every shipped config, shrunk to the fixtures."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.training import GradientDescentTrainer, TrainerCallback

from tests.helpers.configs import tiny

NUM_LOSSES = 3
IN_FLOAT32 = "{ model+: { dtype: 'float32' } }"


class _EnoughLosses(Exception):
    pass


@TrainerCallback.register("golden_losses")
class GoldenLosses(TrainerCallback):
    """Ends a training after `NUM_LOSSES` batches, and has their losses."""

    losses: list[float] = []

    def on_batch(
        self,
        trainer: GradientDescentTrainer,
        batch_inputs: Any,
        batch_outputs: Any,
        batch_metrics: dict[str, Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        self.losses.append(batch_metrics["batch_loss"])
        if len(self.losses) == NUM_LOSSES:
            raise _EnoughLosses


def first_losses(task: str, variant: str, folder: Path) -> list[float]:
    return losses_of(tiny(task, variant, *([IN_FLOAT32] if task == "bilm" else [])), folder / "run")


def losses_of(config: dict[str, Any], folder: Path) -> list[float]:
    """Trains a config as `allennlp train` does, and returns the losses of its first batches."""
    config["trainer"]["callbacks"] = [*config["trainer"].get("callbacks", []), "golden_losses"]
    GoldenLosses.losses.clear()
    with pytest.raises(_EnoughLosses):
        train_model(Params(config), str(folder))
    return list(GoldenLosses.losses)
