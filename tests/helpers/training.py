"""Trains configs as `elmo-tasks train` does, in this process."""

import copy
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.models import Model

from elmo_tasks.commands.in_allennlp.train_command import train_model
from tests.helpers.configs import tiny


def train(config: dict[str, Any], folder: Path, recover: bool = False) -> Model:
    """Trains a config, which is left as it is, and returns the model."""
    return train_model(Params(copy.deepcopy(config)), str(folder), recover=recover)


def trained_archive(folder: Path, task: str, variant: str = "both", change: str = "{}") -> Path:
    """Trains a shrunk config of a task, changed by a jsonnet object, and returns the archive."""
    train(tiny(task, variant, change), folder / "model")
    return folder / "model" / "model.tar.gz"
