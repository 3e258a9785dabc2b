"""Results of runs that never were, for the tests of reports and charts."""

from pathlib import Path

from elmo_tasks.analysis.ablation.report import Report, ablation_report
from elmo_tasks.analysis.ablation.run import Result, Run

ROOT = Path("runs")


def result(variant: str, seed: int, value: float, fraction: float = 1.0) -> Result:
    return Result(
        Run(ROOT, variant, seed, fraction), value=value, epochs=4 + seed, seconds=2.0 * seed
    )


def report(*results: Result, task: str = "sst", metric: str = "+accuracy") -> Report:
    return ablation_report(task, metric, [result.run for result in results], results)
