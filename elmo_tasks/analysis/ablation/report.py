from collections.abc import Sequence
from functools import cached_property
from typing import Any

from elmo_tasks.analysis.ablation.paper import published
from elmo_tasks.analysis.ablation.result import AblationRow, Result, rows_of
from elmo_tasks.analysis.ablation.run import Run, percent
from elmo_tasks.analysis.environment import describe_environment


class AblationReport:
    """
    The results of an ablation so far, as a table and as JSON.

    # Parameters

    metric: The validation metric with its sign, such as `+accuracy`.
    runs: All runs of the ablation, in the order of the rows.
    results: The results of the runs that have ended.
    """

    def __init__(
        self, task: str, metric: str, runs: Sequence[Run], results: Sequence[Result]
    ) -> None:
        self.task = task
        self.runs = list(runs)
        self.results = sorted(results, key=lambda result: self.runs.index(result.run))
        self.rows = rows_of(runs, self.results)
        values = [value for row in self.rows for value in row.values]
        # A metric is shown in percent, as in the paper, if it is maximized and lies in [0, 1].
        self.is_percent = metric[0] == "+" and all(0 <= value <= 1 for value in values)
        self.metric = metric[1:]
        self.fractions = sorted({run.fraction for run in runs})

    @cached_property
    def environment(self) -> dict[str, Any]:
        """
        The first result of `describe_environment`, so that all forms of the report say the same.
        """
        return describe_environment()

    def text(self) -> str:
        where = self.environment
        machine = ", ".join(str(part) for part in where["machine"].values() if part)
        paper = (
            " The paper's results are with GloVe vectors, the original biLM and the official data."
            if any(published(self.task, row.variant, row.fraction) for row in self.rows)
            else ""
        )
        return (
            f"# Ablation of {self.task}\n\n{self._table()}\n\n"
            "Values are means and standard deviations over seeds, at the best epoch of each run. "
            "The seconds of an epoch include its validation, and are the median over the epochs of "
            f"a run.{paper}\n\n"
            f"{where['date']}; {machine}; torch {where['torch']}:\n\n    {where['command']}\n"
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "metric": f"best_validation_{self.metric}",
            **self.environment,
            "rows": [self._row_as_dict(row) for row in self.rows],
            "runs": [_run_as_dict(run, self._result(run)) for run in self.runs],
        }

    def label(self) -> str:
        return f"validation {self.metric}{', %' if self.is_percent else ''}"

    def shown(self, value: float) -> float:
        return 100 * value if self.is_percent else value

    def value_text(self, row: AblationRow) -> str:
        if row.mean is None:
            return ""
        std = "" if row.std is None else f" ± {self.format(row.std)}"
        return f"{self.format(row.mean)}{std}"

    def num_seeds(self, row: AblationRow) -> int:
        return sum((run.variant, run.fraction) == (row.variant, row.fraction) for run in self.runs)

    def format(self, value: float) -> str:
        return f"{self.shown(value):.{2 if self.is_percent else 4}f}"

    def _table(self) -> str:
        lines = []
        for row in self.rows:
            lines.append(self._line(row))
            lines += [
                {"variant": str(result.run), self.label(): f"failed, see {result.run.log}"}
                for result in self.results
                if result.error is not None
                and (result.run.variant, result.run.fraction) == (row.variant, row.fraction)
            ]
        columns = [
            name for name in self._line(self.rows[0]) if any(line.get(name) for line in lines)
        ]
        cells = [[line.get(column, "") for column in columns] for line in lines]
        table = [columns, ["---"] * len(columns), *cells]
        return "\n".join(f"| {' | '.join(line)} |" for line in table)

    def _line(self, row: AblationRow) -> dict[str, str]:
        epochs, seconds = row.mean_of("epochs"), row.mean_of("seconds")
        paper = published(self.task, row.variant, row.fraction)
        return {
            "variant": row.variant,
            "training data": percent(row.fraction) if self.fractions != [1] else "",
            self.label(): self.value_text(row),
            "seeds": f"{len(row.results)} of {self.num_seeds(row)}",
            "epochs": "" if epochs is None else f"{epochs:.1f}",
            "seconds an epoch": "" if seconds is None else f"{seconds:.1f}",
            "paper": "" if paper is None else str(paper),
        }

    def _row_as_dict(self, row: AblationRow) -> dict[str, Any]:
        paper = published(self.task, row.variant, row.fraction)
        return {
            "variant": row.variant,
            "fraction": row.fraction,
            "mean": row.mean,
            "std": row.std,
            "seeds": [result.run.seed for result in row.results],
            "values": row.values,
            "epochs": row.mean_of("epochs"),
            "seconds_an_epoch": row.mean_of("seconds"),
            "paper": None if paper is None else paper._asdict(),
        }

    def _result(self, run: Run) -> Result | None:
        return next((result for result in self.results if result.run == run), None)


def _run_as_dict(run: Run, result: Result | None) -> dict[str, Any]:
    state = {
        "variant": run.variant,
        "fraction": run.fraction,
        "seed": run.seed,
        "folder": str(run.folder),
        "log": str(run.log),
    }
    if result is None:
        return {**state, "status": "not yet"}
    if result.error is not None:
        return {**state, "status": "failed", "error": result.error}
    return {
        **state,
        "status": "complete",
        "value": result.value,
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "seconds_an_epoch": result.seconds,
    }
