"""Results of runs that never were, for the tests of reports and charts."""

from pathlib import Path
from typing import Any

from elmo_tasks.analysis.ablation.run import Report, Run, ablation_report, failure

ROOT = Path("runs")
FAILED = failure("exit 1: KeyError")

# A run and its result, which has no field if the run has not ended.
Ended = tuple[Run, dict[str, Any]]


def result(variant: str, seed: int, value: float, fraction: float = 1.0) -> Ended:
    numbers = {"value": value, "epochs": 4 + seed, "best_epoch": 0}
    return Run(ROOT, variant, seed, fraction), {"status": "complete", **numbers}


def report(*results: Ended, metric: str = "+accuracy") -> Report:
    return ablation_report("sst", metric, dict(results))
