import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tqdm import tqdm

from elmo_tasks.analysis.ablation.report import AblationReport
from elmo_tasks.analysis.ablation.result import Result, find_metric, read_result
from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.analysis.ablation.settings import Settings, refuse_other_settings
from elmo_tasks.analysis.ablation.training import Training, start, train_all
from elmo_tasks.common.files import atomic_write, remove_leftovers, write_whole

# The files of the report, in the folder of the ablation.
REPORTS = ("results.json", "table.md", "chart.png")


def run_ablation(
    task: str,
    runs: Sequence[Run],
    settings: Settings,
    jobs: int = 1,
    threads: int = 1,
    packages: Sequence[str] = (),
) -> AblationReport:
    """
    Trains the runs that are not complete. After each run, writes a report to the folder of the
    ablation: `table.md`, `results.json` and `chart.png`.

    # Parameters

    task: The name of the task in the report.
    runs: Runs with the same root.
    jobs (default `1`): The number of runs that are trained at the same time.
    threads (default `1`): The number of threads of each run.
    packages: Further packages that each training imports, as with `--include-package`.

    # Raises

    `ConfigurationError`: A config cannot be read, the runs cannot be compared, or a run was trained
        before with other settings.
    """
    remove_leftovers(*(runs[0].root / name for name in REPORTS))
    configs = {run: settings.evaluate(run) for run in runs}
    refuse_other_settings(configs)
    metric = find_metric(configs)
    # Each seed is used for all variants before the next seed, so that variants can be compared
    # early.
    seeds = list(dict.fromkeys(run.seed for run in runs))
    ordered = sorted(runs, key=lambda run: seeds.index(run.seed))

    def begin(run: Run) -> Training | None:
        return start(run, settings, threads, packages)

    results: list[Result] = []
    bar = tqdm(total=len(runs), desc=task, unit="run")

    def watch(running: Sequence[Training]) -> None:
        shares = [_share(training.run, configs[training.run]) for training in running]
        move = round(len(results) + sum(shares), 2) - bar.n
        if move:
            bar.update(move)

    with bar, closing(train_all(ordered, begin, jobs, watch)) as trainings:
        for training in trainings:
            result = _result(training, metric)
            results.append(result)
            report = AblationReport(task, metric, runs, results)
            tqdm.write(_line(training, result, report))
            watch([])
            if training.process is not None or len(results) == len(runs):
                _write(report, runs[0].root)
    return report


def _share(run: Run, config: dict[str, Any]) -> float:
    """Returns the share of a run's epochs that are done."""
    num_epochs = config.get("trainer", {}).get("num_epochs") or 1
    return min(run.num_epochs_done() / num_epochs, 1)


def _result(training: Training, metric: str) -> Result:
    error = training.error()
    if error is not None:
        return Result(training.run, error)
    return read_result(training.run, metric)


def _line(training: Training, result: Result, report: AblationReport) -> str:
    if result.value is None:
        return f"{result.run}: failed ({result.error}); its log is {result.run.log}"
    unit = " %" if report.is_percent else ""
    there = "" if training.process is not None else "; it was there already"
    return (
        f"{result.run}: validation {report.metric} {report.format(result.value)}{unit} after epoch "
        f"{result.best_epoch + 1} of {result.epochs}, {result.seconds:.1f} s an epoch{there}"
    )


def _write(report: AblationReport, folder: Path) -> None:
    # Matplotlib takes long to import, and most commands do not need it.
    from elmo_tasks.analysis.ablation.chart import draw

    write_whole(folder / "results.json", json.dumps(report.as_dict(), indent=2) + "\n")
    write_whole(folder / "table.md", report.text())
    with atomic_write(folder / "chart.png") as aside:
        draw(report).savefig(aside, format="png", dpi=150)
