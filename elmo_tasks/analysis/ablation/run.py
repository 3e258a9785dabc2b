import json
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple


class Progress(Enum):
    """The state of a training, as its files show it."""

    NOTHING = "no checkpoint"
    INTERRUPTED = "a checkpoint"
    TRAINED = "trained, without an archive"
    COMPLETE = "complete"


class Run(NamedTuple):
    """
    One training of an ablation. Its folder is AllenNLP's serialization directory. Its config and
    its log are beside that folder.

    # Parameters

    root: The folder of the ablation.
    variant: The name of a config of the task.
    fraction (default `1.0`): The fraction of the training data.
    """

    root: Path
    variant: str
    seed: int
    fraction: float = 1.0

    def __str__(self) -> str:
        part = "" if self.fraction == 1 else f", {percent(self.fraction)} of the training data"
        return f"{self.variant}{part}, seed {self.seed}"

    @property
    def folder(self) -> Path:
        parent = self.root / self.variant
        if self.fraction != 1:
            parent /= f"fraction_{self.fraction}"
        return parent / f"seed{self.seed}"

    @property
    def config_file(self) -> Path:
        return self.folder.with_suffix(".jsonnet")

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    def progress(self) -> Progress:
        """
        Returns the state of the run. A run is trained if it has metrics, which AllenNLP writes
        after the best weights. It is complete if it also has an archive, which AllenNLP writes
        last. Weights, checkpoints and archives appear whole (see `training.checkpointer`).
        """
        if _is_json(self.folder / "metrics.json") and (self.folder / "best.th").exists():
            archived = (self.folder / "model.tar.gz").exists()
            return Progress.COMPLETE if archived else Progress.TRAINED
        has_checkpoint = any(self.folder.glob("training_state_e*_b*.th"))
        if _is_json(self.folder / "config.json") and has_checkpoint:
            return Progress.INTERRUPTED
        return Progress.NOTHING

    def trained_config(self) -> dict[str, Any] | None:
        """
        Returns the config that AllenNLP saved when training began, or `None` if it saved none.
        """
        path = self.folder / "config.json"
        return json.loads(path.read_text(encoding="utf-8")) if _is_json(path) else None

    def num_epochs_done(self) -> int:
        """
        Returns the number of epochs with metrics. AllenNLP writes metrics at the end of each epoch.
        """
        return sum(1 for _ in self.folder.glob("metrics_epoch_*.json"))

    def is_in_the_way(self) -> bool:
        """Returns whether the folder has files that do not come from a training."""
        folder = self.folder
        return folder.exists() and any(folder.iterdir()) and not (folder / "config.json").exists()


def percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return True
