import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tqdm import tqdm

from elmo_tasks.analysis.ablation.report import (
    Report,
    ablation_report,
    fractions_of,
    label,
    shown,
    text_of,
)
from elmo_tasks.analysis.ablation.result import Result, find_metric, read_result
from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.analysis.ablation.settings import Settings, refuse_other_settings
from elmo_tasks.analysis.ablation.training import Training, start, train_all
from elmo_tasks.common.files import atomic_write, remove_leftovers, write_whole


def run_ablation(
    task: str,
    runs: Sequence[Run],
    settings: Settings,
    jobs: int = 1,
    threads: int = 1,
    packages: Sequence[str] = (),
) -> Report:
    """
    Trains the runs that are not complete. After each run, writes a report to the folder of the
    ablation: `table.md` and `results.json`, and `chart.png` if the runs are trained on several
    fractions of the data.

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
    folder = runs[0].root
    remove_leftovers(*(folder / name for name in ("results.json", "table.md", "chart.png")))
    configs = {run: settings.evaluate(run) for run in runs}
    refuse_other_settings(configs)
    metric = find_metric(configs)
    # Each seed is used for all variants before the next seed, so that variants can be compared
    # early.
    seeds = list(dict.fromkeys(run.seed for run in runs))
    ordered = sorted(runs, key=lambda run: seeds.index(run.seed))
    results: list[Result] = []

    def begin(run: Run) -> Training:
        return start(run, configs[run], threads, packages)

    with closing(train_all(ordered, begin, jobs)) as trainings:
        for training in tqdm(trainings, task, len(runs), unit="run"):
            error = training.error()
            result = Result(training.run, error) if error else read_result(training.run, metric)
            results.append(result)
            report = ablation_report(task, metric, runs, results)
            tqdm.write(_line(training, result, report))
            _write(report, folder)
    return report


def _line(training: Training, result: Result, report: Report) -> str:
    if result.value is None:
        return f"{result.run}: failed ({result.error}); its log is {result.run.log}"
    metric, _, unit = label(report).partition(",")
    there = "" if training.process is not None else "; it was there already"
    return (
        f"{result.run}: {metric} {shown(report, result.value)}{unit} after epoch "
        f"{result.best_epoch + 1} of {result.epochs}, {result.seconds:.1f} s an epoch{there}"
    )


def _write(report: Report, folder: Path) -> None:
    write_whole(folder / "results.json", json.dumps(report, indent=2) + "\n")
    write_whole(folder / "table.md", text_of(report))
    if len(fractions_of(report)) > 1:
        # Matplotlib takes long to import, and most commands do not need it.
        from elmo_tasks.analysis.ablation.chart import draw

        with atomic_write(folder / "chart.png") as aside:
            draw(report).savefig(aside, format="png", dpi=150)
