import json
import re
import statistics
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.common.errors import ConfigurationError


class Result(NamedTuple):
    """
    The result of a run that has ended.

    # Parameters

    error: The reason why the run failed; the other fields are then empty.
    value: The validation metric at the best epoch.
    epochs: The number of epochs that were trained.
    best_epoch: The index of the best epoch, from 0.
    seconds: The seconds of an epoch with its validation: the median over the epochs.
    """

    run: Run
    error: str | None = None
    value: float | None = None
    epochs: int = 0
    best_epoch: int = 0
    seconds: float = 0.0


class AblationRow(NamedTuple):
    """The results of one variant and one fraction of the training data, without failed runs."""

    variant: str
    fraction: float
    results: list[Result]

    @property
    def values(self) -> list[float]:
        return [result.value for result in self.results if result.value is not None]

    @property
    def mean(self) -> float | None:
        return statistics.fmean(self.values) if self.values else None

    @property
    def std(self) -> float | None:
        """The standard deviation of the sample, or `None` if it has fewer than two values."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    def mean_of(self, name: str) -> float | None:
        """Returns the mean of the field `epochs` or `seconds` over the results."""
        if not self.results:
            return None
        return statistics.fmean(getattr(result, name) for result in self.results)


def find_metric(configs: Mapping[Run, dict[str, Any]]) -> str:
    """
    Returns the validation metric that chooses the best epoch of every run, with its sign. If a
    config has several metrics, the first one is used. Raises `ConfigurationError` if the configs
    have different metrics, or if a config has no trainer or no validation data.
    """
    metrics = set()
    for run, config in configs.items():
        for field in ("validation_data_path", "trainer"):
            if field not in config:
                raise ConfigurationError(
                    f"the config of {run} has no {field}, which the comparison needs"
                )
        metric = config["trainer"].get("validation_metric", "-loss")
        metrics.add(metric if isinstance(metric, str) else metric[0])
    if len(metrics) > 1:
        raise ConfigurationError(
            f"the variants cannot be compared: their validation_metric is {' or '.join(metrics)}"
        )
    return metrics.pop()


def read_result(run: Run, metric: str) -> Result:
    """
    Reads the result of a complete run from AllenNLP's metrics. A run without an epoch or without a
    best value of the metric has failed.
    """
    metrics = json.loads((run.folder / "metrics.json").read_text(encoding="utf-8"))
    durations = _training_durations(run)
    if not durations:
        return Result(run, f"{run.folder} has no metrics_epoch_*.json: no epoch was trained")
    best = f"best_validation_{metric[1:]}"
    if best not in metrics:
        return Result(run, f"metrics.json has no {best}: the metric was never a number")
    return Result(
        run,
        value=metrics[best],
        epochs=len(durations),
        best_epoch=metrics["best_epoch"],
        seconds=statistics.median(_epoch_seconds(durations)),
    )


def rows_of(runs: Iterable[Run], results: Iterable[Result]) -> list[AblationRow]:
    rows = {(run.variant, run.fraction): AblationRow(run.variant, run.fraction, []) for run in runs}
    for result in results:
        if result.error is None:
            rows[result.run.variant, result.run.fraction].results.append(result)
    return list(rows.values())


def _training_durations(run: Run) -> list[float]:
    """Returns the seconds from the start of training to the end of each epoch."""
    durations = {}
    for path in run.folder.glob("metrics_epoch_*.json"):
        metrics = json.loads(path.read_text(encoding="utf-8"))
        durations[metrics["epoch"]] = _seconds(metrics["training_duration"])
    return [durations[epoch] for epoch in sorted(durations)]


def _epoch_seconds(durations: list[float]) -> list[float]:
    """
    Returns the seconds of each epoch. A recovered training counts its time from zero again. If the
    first epoch after the restart took longer than all epochs before together, the restart cannot be
    seen, and that epoch gets too few seconds. So callers take the median.
    """
    before = [0.0, *durations[:-1]]
    return [now - then if now > then else now for then, now in zip(before, durations)]


def _seconds(duration: str) -> float:
    """Returns the seconds of a `timedelta`, written as a string."""
    match = re.fullmatch(r"(?:(\d+) days?, )?(\d+):(\d+):([\d.]+)", duration)
    if match is None:
        raise ValueError(f"expected a duration such as '1 day, 0:02:03.5', but got {duration!r}")
    days, hours, minutes, seconds = match.groups()
    return timedelta(
        days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=float(seconds)
    ).total_seconds()
