import json
import shlex
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.data import DatasetReader

from elmo_tasks.own_data.baseline import baseline

READERS = ("elmo_classify", "elmo_tag")


def is_own(config: dict[str, Any]) -> bool:
    """Returns whether a config is of `classify` or `tag`, the tasks for a user's own data."""
    return config.get("dataset_reader", {}).get("type") in READERS


def metric_of(config: dict[str, Any]) -> str:
    """Returns the name of the metric that chooses the best epoch."""
    return config["trainer"]["validation_metric"].lstrip("+-")


def score_of(config: dict[str, Any], folder: Path) -> float:
    """Returns the best validation score of the training in a folder."""
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return metrics[f"best_validation_{metric_of(config)}"]


def result_lines(config: dict[str, Any], folder: Path) -> list[str]:
    """
    Returns what users want to know after a training on their own data: the score on the validation
    data, the score to beat, and the command that predicts. Returns no lines for other trainings.
    """
    if not is_own(config) or not (folder / "metrics.json").exists():
        return []
    reader = DatasetReader.from_params(Params(dict(config["dataset_reader"])))
    train, dev = config["train_data_path"], config["validation_data_path"]
    lines = [f"{metric_of(config)} on {dev}: {100 * score_of(config, folder):.1f}"]
    if least := baseline(reader, train, dev):
        lines[0] += f" ({least.what}: {100 * least.score:.1f})"
    command = shlex.join(["elmo-tasks", "predict", str(folder), dev])
    return [*lines, f"Predict with: {command}"]
