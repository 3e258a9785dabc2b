import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from elmo_tasks.analysis.ablation.run import Run, percent
from elmo_tasks.analysis.tables import table

Report = dict[str, Any]


def ablation_report(task: str, metric: str, results: Mapping[Run, dict[str, Any]]) -> Report:
    """
    Returns the results of an ablation so far, as JSON.

    # Parameters

    metric: The validation metric with its sign, such as `+accuracy`.
    results: The result of each run, as from `read_result`, in the order of the rows. Without a
        `status`, the run has not ended yet.
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


def shown(report: Report, value: float) -> str:
    return f"{100 * value:.2f}" if report["in_percent"] else f"{value:.4f}"


def fractions_of(report: Report) -> list[float]:
    return sorted({row["fraction"] for row in report["rows"]})


def text_of(report: Report) -> str:
    """Returns what `ablation_report` returned as Markdown."""
    lines = [_line(report, row) for row in report["rows"]]
    columns = [name for name in lines[0] if any(line[name] for line in lines)]
    rows = table(columns, [[line[column] for column in columns] for line in lines])
    return (
        f"# Ablation of {report['task']}\n\n{rows}\n\n"
        "Values are means and standard deviations over seeds, at the best epoch of each run.\n"
    )


def _line(report: Report, row: dict[str, Any]) -> dict[str, str]:
    mean, std, epochs = row["mean"], row["std"], row["epochs"]
    deviation = "" if std is None else f" ± {shown(report, std)}"
    return {
        "variant": row["variant"],
        "training data": "" if fractions_of(report) == [1] else percent(row["fraction"]),
        label(report): "" if mean is None else f"{shown(report, mean)}{deviation}",
        "seeds": f"{len(row['seeds'])} of {row['num_runs']}",
        "epochs": "" if epochs is None else f"{epochs:.1f}",
    }
