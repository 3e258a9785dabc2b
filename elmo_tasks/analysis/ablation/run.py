import gzip
import json
import re
import zipfile
import zlib
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple


class Progress(Enum):
    """The state of a training, as its files show it."""

    NOTHING = "no checkpoint"
    INTERRUPTED = "a checkpoint"
    TRAINED = "trained, without a whole archive"
    COMPLETE = "complete"


class Run(NamedTuple):
    """
    One training of an ablation. Its folder is AllenNLP's serialization directory; its config and
    its log are beside that folder.

    # Parameters

    root : `Path`
        The folder of the ablation.
    variant : `str`
        The name of a config of the task.
    seed : `int`
    fraction : `float`, optional (default = `1.0`)
        The fraction of the training data.
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
        after the best weights. It is complete if it also has a whole archive, which AllenNLP writes
        last.
        """
        if _is_json(self.folder / "metrics.json") and _is_zip(self.folder / "best.th"):
            archived = _is_gzip(self.folder / "model.tar.gz")
            return Progress.COMPLETE if archived else Progress.TRAINED
        if _is_json(self.folder / "config.json") and any(self._checkpoints().values()):
            return Progress.INTERRUPTED
        return Progress.NOTHING

    def trained_config(self) -> dict[str, Any] | None:
        """
        Returns the config that AllenNLP saved when training began, or `None` if there is none.
        """
        path = self.folder / "config.json"
        return json.loads(path.read_text(encoding="utf-8")) if _is_json(path) else None

    def num_epochs_done(self) -> int:
        """Returns how many epochs have metrics, which AllenNLP writes at the end of each."""
        return sum(1 for _ in self.folder.glob("metrics_epoch_*.json"))

    def remove_broken_checkpoints(self) -> None:
        """Removes checkpoints that were not saved completely, so that earlier ones are used."""
        for files, is_whole in self._checkpoints().items():
            if not is_whole:
                for file in files:
                    file.unlink()

    def is_in_the_way(self) -> bool:
        """Returns whether the folder has files that do not come from a training."""
        folder = self.folder
        return folder.exists() and any(folder.iterdir()) and not (folder / "config.json").exists()

    def _checkpoints(self) -> dict[tuple[Path, ...], bool]:
        """Returns the files of each checkpoint, with whether the checkpoint is complete."""
        found: dict[str, list[Path]] = {}
        for file in self.folder.glob("*_state_e*_b*.th"):
            if match := re.fullmatch(
                r"(?:model|training)_state_(e\d+_b\d+)(?:_w\d+)?\.th", file.name
            ):
                found.setdefault(match[1], []).append(file)
        return {
            tuple(files): all(map(_is_zip, files))
            and {file.name.split("_")[0] for file in files} == {"model", "training"}
            for files in found.values()
        }


def percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return True


def _is_zip(path: Path) -> bool:
    """
    Returns whether a file of `torch.save` is complete. Such a file is a zip, and a zip that was cut
    off has lost the directory at its end.
    """
    return path.exists() and zipfile.is_zipfile(path)


def _is_gzip(path: Path) -> bool:
    try:
        with gzip.open(path) as file:
            while file.read(1 << 20):
                pass
    except (FileNotFoundError, EOFError, gzip.BadGzipFile, zlib.error):
        return False
    return True
