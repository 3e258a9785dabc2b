import json
import os
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.analysis.tables import table
from elmo_tasks.common.errors import ConfigurationError

Report = dict[str, Any]

# The numbers of done and of all batches in a line of tqdm, and the number of bytes at the end of a
# log that contain such a line.
_BATCHES = re.compile(rb"\| (\d+)/(\d+) \[")
_END = 2000


class Run(NamedTuple):
    """
    One training run of an ablation. Its folder is AllenNLP's serialization directory. Its config
    and its log are beside that folder.

    # Parameters

    root: The folder of the ablation.
    variant: The name of a config of the task.
    fraction: The fraction of the training data.
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

    def is_complete(self) -> bool:
        """
        Returns whether the folder has the final metrics and the archive, which AllenNLP writes
        last.
        """
        files = (self.folder / "best.th", self.folder / "model.tar.gz")
        return _read(self.folder / "metrics.json") is not None and all(map(Path.exists, files))

    def trained_config(self) -> dict[str, Any] | None:
        """Returns the config that AllenNLP saved when training began, if any."""
        return _read(self.folder / "config.json")


def find_metric(configs: Mapping[Run, dict[str, Any]]) -> str:
    """
    Returns the validation metric that chooses the best epoch of every run, with its sign. If a run
    names several metrics, the first counts. Raises `ConfigurationError` if the runs have different
    metrics, or if a run has no trainer or no validation data.
    """
    metrics = set()
    for run, config in configs.items():
        if fields := sorted({"validation_data_path", "trainer"} - config.keys()):
            raise ConfigurationError(
                f"the config of {run} has no {fields[0]}, which the comparison needs"
            )
        metric = config["trainer"].get("validation_metric", "-loss")
        metrics.add(metric if isinstance(metric, str) else metric[0])
    if len(metrics) > 1:
        raise ConfigurationError(
            f"the variants cannot be compared: their validation_metric is {' or '.join(metrics)}"
        )
    return metrics.pop()


def read_result(run: Run, metric: str) -> dict[str, Any]:
    """
    Reads the result of a run that AllenNLP completed.

    # Returns

    The `status`: `complete`, or `failed` if no epoch ended or the metric was never a number. A
    failed run has the `error`. A complete run has the number of its `epochs`, the index
    `best_epoch` of its best epoch, from 0, and the `value` of the validation metric at that epoch.
    """
    metrics = json.loads((run.folder / "metrics.json").read_text(encoding="utf-8"))
    num_epochs = len(list(run.folder.glob("metrics_epoch_*.json")))
    if num_epochs == 0:
        return failure(f"{run.folder} has no metrics_epoch_*.json: no epoch was trained")
    best = f"best_validation_{metric[1:]}"
    if best not in metrics:
        return failure(f"metrics.json has no {best}: the metric was never a number")
    return {
        "status": "complete",
        "value": metrics[best],
        "epochs": num_epochs,
        "best_epoch": metrics["best_epoch"],
    }


def epochs_done(run: Run) -> float:
    """
    Returns how many epochs of a run have ended. The finished part of the present epoch, read from
    the log, is added as a fraction.
    """
    num_epochs = len(list(run.folder.glob("metrics_epoch_*.json")))
    try:
        with open(run.log, "rb") as log:
            log.seek(max(0, os.stat(run.log).st_size - _END))
            batches = _BATCHES.findall(log.read())
    except OSError:
        return num_epochs
    return num_epochs + (int(batches[-1][0]) / max(1, int(batches[-1][1])) if batches else 0)


def failure(error: str) -> dict[str, Any]:
    """Returns the result of a run that failed for this reason."""
    return {"status": "failed", "error": error}


def percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"


def _read(path: Path) -> dict[str, Any] | None:
    """Returns the JSON of a file, or `None` if the file is missing or incomplete."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def is_report(path: Path) -> bool:
    """Returns whether a file is the report of an ablation (see `ablation_report`)."""
    report = _read(path)
    return isinstance(report, dict) and report.keys() >= {"task", "metric", "rows", "runs"}


def ablation_report(task: str, metric: str, results: Mapping[Run, dict[str, Any]]) -> Report:
    """
    Returns the results of an ablation so far, as JSON.

    # Parameters

    metric: The validation metric with its sign, such as `+accuracy`.
    results: The result of each run from `read_result`, in the order of the rows. The result of a
        run that has not ended has no `status`.
    """
    runs = [
        {
            "variant": run.variant,
            "fraction": run.fraction,
            "seed": run.seed,
            "folder": str(run.folder),
            "log": str(run.log),
            "status": "not yet",
            **result,
        }
        for run, result in results.items()
    ]
    values = [run["value"] for run in runs if "value" in run]
    # A row has the runs of a variant and a fraction.
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["variant"], run["fraction"]), []).append(run)
    return {
        "task": task,
        "metric": f"best_validation_{metric[1:]}",
        # A metric is shown in percent, as in the paper, if it is maximized and lies in [0, 1].
        "in_percent": metric[0] == "+" and all(0 <= value <= 1 for value in values),
        "rows": [_row(group) for group in groups.values()],
        "runs": runs,
    }


def _row(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    complete = [run for run in runs if run["status"] == "complete"]
    values = [run["value"] for run in complete]
    return {
        "variant": runs[0]["variant"],
        "fraction": runs[0]["fraction"],
        "mean": statistics.fmean(values) if values else None,
        "std": statistics.stdev(values) if len(values) > 1 else None,
        "num_runs": len(runs),
        "seeds": [run["seed"] for run in complete],
        "values": values,
        "epochs": statistics.fmean(run["epochs"] for run in complete) if complete else None,
    }


def label(report: Report) -> str:
    """Returns the name of the metric, for a table or an axis."""
    metric = report["metric"].removeprefix("best_validation_")
    return f"validation {metric}{', %' * report['in_percent']}"


def format_score(report: Report, value: float) -> str:
    return f"{100 * value:.2f}" if report["in_percent"] else f"{value:.4f}"


def fractions_of(report: Report) -> list[float]:
    return sorted({row["fraction"] for row in report["rows"]})


def text_of(report: Report) -> str:
    """Returns the report of `ablation_report` as Markdown."""
    lines = [_line(report, row) for row in report["rows"]]
    columns = [name for name in lines[0] if any(line[name] for line in lines)]
    rows = table(columns, [[line[column] for column in columns] for line in lines])
    return (
        f"# Ablation of {report['task']}\n\n{rows}\n\n"
        "Values are means and standard deviations over seeds, at the best epoch of each run.\n"
    )


def _line(report: Report, row: dict[str, Any]) -> dict[str, str]:
    mean, std, epochs = row["mean"], row["std"], row["epochs"]
    deviation = "" if std is None else f" ± {format_score(report, std)}"
    return {
        "variant": row["variant"],
        "training data": "" if fractions_of(report) == [1] else percent(row["fraction"]),
        label(report): "" if mean is None else f"{format_score(report, mean)}{deviation}",
        "seeds": f"{len(row['seeds'])} of {row['num_runs']}",
        "epochs": "" if epochs is None else f"{epochs:.1f}",
    }
