import json
import re
import statistics
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NamedTuple

from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.common.errors import ConfigurationError


class Result(NamedTuple):
    """
    # Parameters

    run : `Run`
    error : `str`, optional
        Why the run failed; the rest is then missing.
    value : `float`, optional
        The validation metric at the best epoch.
    epochs : `int`
        How many were trained.
    best_epoch : `int`
        The first is 0, as AllenNLP counts.
    seconds : `float`
        Of an epoch with its validation: the median.
    """

    run: Run
    error: str | None = None
    value: float | None = None
    epochs: int = 0
    best_epoch: int = 0
    seconds: float = 0.0


class AblationRow(NamedTuple):
    """The results of one variant and one fraction of the training data; of those not failed."""

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
        """Of a sample, so that there is none for one value."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    def mean_of(self, name: str) -> float | None:
        """Of `epochs` or `seconds`."""
        if not self.results:
            return None
        return statistics.fmean(getattr(result, name) for result in self.results)


def find_metric(configs: Iterable[dict[str, Any]]) -> str:
    """The metric that chooses the best epoch of all runs, with its sign; of several, the first."""
    metrics = set()
    for config in configs:
        if "validation_data_path" not in config:
            raise ConfigurationError("there is nothing to compare: no validation_data_path")
        metric = config["trainer"].get("validation_metric", "-loss")
        metrics.add(metric if isinstance(metric, str) else metric[0])
    if len(metrics) > 1:
        raise ConfigurationError(
            f"the variants cannot be compared: their validation_metric is {' or '.join(metrics)}"
        )
    return metrics.pop()


def read_result(run: Run, metric: str) -> Result:
    """Of a complete run."""
    metrics = json.loads((run.folder / "metrics.json").read_text(encoding="utf-8"))
    durations = _training_durations(run)
    return Result(
        run,
        value=metrics[f"best_validation_{metric[1:]}"],
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
    """Seconds from the beginning of the training to the end of each epoch."""
    durations = {}
    for path in run.folder.glob("metrics_epoch_*.json"):
        metrics = json.loads(path.read_text(encoding="utf-8"))
        durations[metrics["epoch"]] = _seconds(metrics["training_duration"])
    return [durations[epoch] for epoch in sorted(durations)]


def _epoch_seconds(durations: list[float]) -> list[float]:
    """
    Of each epoch. A recovered training counts from zero again, which shows unless its first epoch
    took longer than all before; hence the median of them.
    """
    before = [0.0, *durations[:-1]]
    return [now - then if now > then else now for then, now in zip(before, durations)]


def _seconds(duration: str) -> float:
    """Of the text of a `timedelta`."""
    match = re.fullmatch(r"(?:(\d+) days?, )?(\d+):(\d+):([\d.]+)", duration)
    if match is None:
        raise ValueError(f"expected a duration such as 1 day, 0:02:03.5, but got {duration!r}")
    days, hours, minutes, seconds = match.groups()
    return timedelta(
        days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=float(seconds)
    ).total_seconds()
