import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from subprocess import Popen
from typing import Any

from tqdm import tqdm

from elmo_tasks.analysis.ablation.report import (
    Report,
    ablation_report,
    fractions_of,
    label,
    shown,
    text_of,
)
from elmo_tasks.analysis.ablation.run import Run, failed, find_metric, read_result
from elmo_tasks.analysis.ablation.settings import AblationSettings, refuse_other_settings
from elmo_tasks.analysis.ablation.training import start, train_all, why_failed
from elmo_tasks.analysis.charts import draw_ablation
from elmo_tasks.common.files import atomic_write, write_whole


def run_ablation(
    task: str,
    runs: Sequence[Run],
    settings: AblationSettings,
    jobs: int = 1,
    packages: Sequence[str] = (),
) -> Report:
    """
    Trains the runs that are not complete. After each run, writes a report to the folder of the
    ablation: `table.md` and `results.json`, and `chart.png` if the runs are trained on several
    fractions of the data.

    # Parameters

    runs: Runs with the same root.
    jobs (default `1`): The number of runs that are trained at the same time.
    packages: Packages that each training imports, as with `--include-package`.

    # Raises

    `ConfigurationError`: A config cannot be read, the runs cannot be compared, or a run was trained
        before with other settings.
    """
    folder = runs[0].root
    configs = {run: settings.evaluate(run) for run in runs}
    refuse_other_settings(configs)
    metric = find_metric(configs)
    # Each seed is used for all variants before the next seed, so that variants can be compared
    # early.
    seeds = list(dict.fromkeys(run.seed for run in runs))
    ordered = sorted(runs, key=lambda run: seeds.index(run.seed))
    results: dict[Run, dict[str, Any]] = {run: {} for run in runs}

    def begin(run: Run) -> Popen | None:
        return start(run, configs[run], packages)

    with closing(train_all(ordered, begin, jobs)) as trainings:
        for run, process in tqdm(trainings, task, len(runs), unit="run"):
            error = why_failed(run, process)
            results[run] = failed(error) if error else read_result(run, metric)
            report = ablation_report(task, metric, results)
            there = "" if process else "; it was there already"
            tqdm.write(_line(run, results[run], report) + there)
            _write(report, folder)
    return report


def _line(run: Run, result: dict[str, Any], report: Report) -> str:
    if result["status"] == "failed":
        return f"{run}: failed ({result['error']}); its log is {run.log}"
    metric, _, unit = label(report).partition(",")
    return (
        f"{run}: {metric} {shown(report, result['value'])}{unit} after epoch "
        f"{result['best_epoch'] + 1} of {result['epochs']}"
    )


def _write(report: Report, folder: Path) -> None:
    write_whole(folder / "results.json", json.dumps(report, indent=2) + "\n")
    write_whole(folder / "table.md", text_of(report))
    if len(fractions_of(report)) > 1:
        with atomic_write(folder / "chart.png") as aside:
            draw_ablation(report).savefig(aside, format="png", dpi=150)
