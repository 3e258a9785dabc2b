import statistics
from collections.abc import Sequence
from typing import Any

from elmo_tasks.analysis.ablation.paper import Published, published
from elmo_tasks.analysis.ablation.run import Result, Run, percent
from elmo_tasks.analysis.environment import describe_environment
from elmo_tasks.analysis.tables import table

Report = dict[str, Any]


def ablation_report(
    task: str, metric: str, runs: Sequence[Run], results: Sequence[Result]
) -> Report:
    """
    Returns the results of an ablation so far, as JSON.

    # Parameters

    metric: The validation metric with its sign, such as `+accuracy`.
    runs: All runs of the ablation, in the order of the rows.
    results: The results of the runs that have ended.
    """
    result_of = {result.run: result for result in results}
    values = [result.value for result in results if result.value is not None]
    rows = []
    for variant, fraction in dict.fromkeys((run.variant, run.fraction) for run in runs):
        own = [run for run in runs if (run.variant, run.fraction) == (variant, fraction)]
        found = [result_of[run] for run in own if run in result_of]
        rows.append(_row(task, variant, fraction, [each for each in found if not each.error]))
    return {
        "task": task,
        "metric": f"best_validation_{metric[1:]}",
        # A metric is shown in percent, as in the paper, if it is maximized and lies in [0, 1].
        "in_percent": metric[0] == "+" and all(0 <= value <= 1 for value in values),
        **describe_environment(),
        "rows": rows,
        "runs": [_run(run, result_of.get(run)) for run in runs],
    }


def _row(task: str, variant: str, fraction: float, results: Sequence[Result]) -> dict[str, Any]:
    values = [result.value for result in results if result.value is not None]
    paper = published(task, variant, fraction)
    return {
        "variant": variant,
        "fraction": fraction,
        "mean": statistics.fmean(values) if values else None,
        "std": statistics.stdev(values) if len(values) > 1 else None,
        "seeds": [result.run.seed for result in results],
        "values": values,
        "epochs": statistics.fmean(each.epochs for each in results) if results else None,
        "seconds_an_epoch": statistics.fmean(each.seconds for each in results) if results else None,
        "paper": None if paper is None else paper._asdict(),
    }


def _run(run: Run, result: Result | None) -> dict[str, Any]:
    about = {
        "variant": run.variant,
        "fraction": run.fraction,
        "seed": run.seed,
        "folder": str(run.folder),
        "log": str(run.log),
    }
    if result is None:
        return {**about, "status": "not yet"}
    if result.error is not None:
        return {**about, "status": "failed", "error": result.error}
    return {
        **about,
        "status": "complete",
        "value": result.value,
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "seconds_an_epoch": result.seconds,
    }


def label(report: Report) -> str:
    """Returns the name of the metric, for a table or an axis."""
    metric = report["metric"].removeprefix("best_validation_")
    return f"validation {metric}{', %' * report['in_percent']}"


def shown(report: Report, value: float) -> str:
    return f"{100 * value:.2f}" if report["in_percent"] else f"{value:.4f}"


def fractions_of(report: Report) -> list[float]:
    return sorted({row["fraction"] for row in report["rows"]})


def text_of(report: Report) -> str:
    """Returns what `ablation_report` returned as Markdown."""
    machine = ", ".join(str(part) for part in report["machine"].values() if part)
    paper = (
        " The paper's results are with GloVe vectors, the original biLM and the official data."
        if any(row["paper"] for row in report["rows"])
        else ""
    )
    return (
        f"# Ablation of {report['task']}\n\n{_table(report)}\n\n"
        "Values are means and standard deviations over seeds, at the best epoch of each run. "
        "The seconds of an epoch include its validation, and are the median over the epochs of "
        f"a run.{paper}\n\n"
        f"{report['date']}; {machine}; torch {report['torch']}:\n\n    {report['command']}\n"
    )


def _table(report: Report) -> str:
    lines: list[dict[str, str]] = []
    for row in report["rows"]:
        own = [
            run
            for run in report["runs"]
            if (run["variant"], run["fraction"]) == (row["variant"], row["fraction"])
        ]
        lines.append(_line(report, row, len(own)))
        lines += [
            {
                "variant": f"{row['variant']}, seed {run['seed']}",
                label(report): f"failed, see {run['log']}",
            }
            for run in own
            if run["status"] == "failed"
        ]
    columns = [name for name in lines[0] if any(line.get(name) for line in lines)]
    return table(columns, [[line.get(column, "") for column in columns] for line in lines])


def _line(report: Report, row: dict[str, Any], num_seeds: int) -> dict[str, str]:
    mean, std, epochs, seconds = (row[k] for k in ("mean", "std", "epochs", "seconds_an_epoch"))
    deviation = "" if std is None else f" ± {shown(report, std)}"
    return {
        "variant": row["variant"],
        "training data": "" if fractions_of(report) == [1] else percent(row["fraction"]),
        label(report): "" if mean is None else f"{shown(report, mean)}{deviation}",
        "seeds": f"{len(row['seeds'])} of {num_seeds}",
        "epochs": "" if epochs is None else f"{epochs:.1f}",
        "seconds an epoch": "" if seconds is None else f"{seconds:.1f}",
        "paper": "" if row["paper"] is None else str(Published(**row["paper"])),
    }
