import json
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.data import DatasetReader

from elmo_tasks.common.files import write_whole
from elmo_tasks.own_data.result import metric_of, score_of
from elmo_tasks.own_data.units import deal, part_suffix, read_units, written

# A function that trains with the given overrides into a folder.
Train = Callable[[dict[str, Any], Path], Any]


def train_folds(config: dict[str, Any], folder: Path, num_folds: int, train: Train) -> list[float]:
    """
    Joins the training and the validation data, deals them into folds, and trains once for each
    fold. A fold is the validation data of its training, and the other folds are the training data.
    A training that an earlier call has finished is not repeated. Only the scores are kept.

    # Parameters

    config: The evaluated config of a training of `classify` or `tag`.
    folder: Gets the scores as `1.json` and so on.

    # Returns

    For each training, the best score on its validation data.
    """
    reader = DatasetReader.from_params(Params(dict(config["dataset_reader"])))
    paths = [config["train_data_path"], config["validation_data_path"]]
    units = [unit for path in paths for unit in read_units(reader, path)]
    parts = deal(units, num_folds, config.get("random_seed", 1))
    scores = []
    for number, dev in enumerate(parts, start=1):
        result = folder / f"{number}.json"
        if not result.exists():
            others = [unit for part in parts if part is not dev for unit in part]
            overrides = {}
            for name, chosen in (("train", others), ("validation", dev)):
                data = folder / f"{number}.{name}{part_suffix(reader, paths[0])}"
                data.parent.mkdir(parents=True, exist_ok=True)
                data.write_text(written(chosen), encoding="utf-8")
                overrides[f"{name}_data_path"] = str(data)
            # Remove what a killed training left.
            training = folder / f"{number}"
            shutil.rmtree(training, ignore_errors=True)
            train(overrides, training)
            write_whole(result, json.dumps({metric_of(config): score_of(config, training)}))
            shutil.rmtree(training)
            for path in overrides.values():
                Path(path).unlink()
        scores.append(json.loads(result.read_text())[metric_of(config)])
    return scores


def folds_line(metric: str, scores: list[float]) -> str:
    """
    Returns a line with the mean and the standard deviation of the scores, and all scores, in
    percent.
    """
    mean, deviation = 100 * statistics.mean(scores), 100 * statistics.stdev(scores)
    each = ", ".join(f"{100 * score:.1f}" for score in scores)
    return f"{metric} in {len(scores)} folds: {mean:.1f} ± {deviation:.1f} ({each})"
