import json
from pathlib import Path
from typing import Any, NamedTuple


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
        return self.folder.with_suffix(".json")

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    def is_trained(self) -> bool:
        """Returns whether there are metrics, which AllenNLP writes after the best weights."""
        return (
            _read(self.folder / "metrics.json") is not None and (self.folder / "best.th").exists()
        )

    def is_complete(self) -> bool:
        """Returns whether the run has its archive, which AllenNLP writes last."""
        return self.is_trained() and (self.folder / "model.tar.gz").exists()

    def is_interrupted(self) -> bool:
        """Returns whether there is a checkpoint to continue from."""
        has_checkpoint = any(self.folder.glob("training_state_e*_b*.th"))
        return self.trained_config() is not None and has_checkpoint

    def trained_config(self) -> dict[str, Any] | None:
        """
        Returns the config that AllenNLP saved when training began, or `None` if it saved none.
        """
        return _read(self.folder / "config.json")

    def is_in_the_way(self) -> bool:
        """Returns whether the folder has files that do not come from a training."""
        folder = self.folder
        return folder.exists() and any(folder.iterdir()) and not (folder / "config.json").exists()


def percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"


def _read(path: Path) -> dict[str, Any] | None:
    """Returns the JSON of a file, or `None` if there is no such file or it is not whole."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
