import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from tqdm import tqdm

from elmo_tasks.analysis.ablation.run import (
    Report,
    Run,
    ablation_report,
    epochs_done,
    failure,
    find_metric,
    format_score,
    fractions_of,
    is_report,
    label,
    read_result,
    text_of,
)
from elmo_tasks.analysis.ablation.settings import AblationSettings, runs_of_other_settings
from elmo_tasks.analysis.charts import draw_ablation
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write, write_whole
from elmo_tasks.common.outputs import check_outputs, paths_in

# A stopped training run has this many seconds to archive its best weights and to end.
_SECONDS_TO_END = 60


def run_ablation(
    task: str,
    runs: Sequence[Run],
    settings: AblationSettings,
    jobs: int = 1,
    packages: Sequence[str] = (),
    force: bool = False,
) -> Report:
    """
    Trains the runs that are not complete. After each run, writes a report to the folder of the
    ablation: `table.md`, `results.json`, and, if the runs have several fractions of the data,
    `chart.png`.

    # Parameters

    runs: The runs of one ablation.
    jobs: The number of runs that are trained at the same time.
    packages: Packages that each training run imports, as with `--include-package`.
    force: Whether runs that were trained with other settings are trained anew, and files that are
        not of an ablation are replaced.

    # Raises

    `ConfigurationError`: A config cannot be read, or the runs cannot be compared; an output is an
        input; or `force` is not given, and a run was trained before with other settings, or an
        output exists that is not of an ablation.
    """
    folder = runs[0].root
    configs = {run: settings.evaluate(run) for run in runs}
    _check_outputs(folder, configs, settings, force)
    problems = runs_of_other_settings(configs)
    if problems and not force:
        raise ConfigurationError(next(iter(problems.values())))
    metric = find_metric(configs)
    # Each seed is used for all variants before the next seed, so that variants can be compared
    # early.
    seeds = list(dict.fromkeys(run.seed for run in runs))
    runs_by_seed = sorted(runs, key=lambda run: seeds.index(run.seed))
    results: dict[Run, dict[str, Any]] = {run: {} for run in runs}

    def begin(run: Run) -> subprocess.Popen | None:
        return start(run, configs[run], packages, run in problems)

    with (
        Progress(task, configs) as progress,
        closing(train_all(runs_by_seed, begin, jobs, progress.show)) as trainings,
    ):
        for run, process in trainings:
            error = why_failed(run, process, run in problems)
            progress.end(run)
            results[run] = failure(error) if error else read_result(run, metric)
            report = ablation_report(task, metric, results)
            note = "" if process else "; it was there already"
            tqdm.write(_line(run, results[run], report) + note)
            _write(report, folder)
    return report


class Progress(tqdm):
    """
    The progress bar of an ablation. It shows how many runs are complete, and the epochs of the runs
    in training.
    """

    def __init__(
        self,
        task: str,
        configs: Mapping[Run, dict[str, Any]],
        mininterval: float = 1,
        **options: Any,
    ) -> None:
        options |= {"mininterval": mininterval, "miniters": 0}
        super().__init__(desc=task, total=len(configs), unit="run", **options)
        self._num_epochs = {
            run: config["trainer"].get("num_epochs", 20) for run, config in configs.items()
        }
        self._complete = dict.fromkeys(configs, 0.0)

    def show(self, running: Collection[Run]) -> None:
        """Shows how far the running runs are."""
        parts = []
        for run in running:
            num_epochs = self._num_epochs[run]
            num_done = min(epochs_done(run), num_epochs)
            # A part that is read from the log falls back when the validation begins.
            self._complete[run] = max(self._complete[run], num_done / num_epochs)
            parts.append(f"{run}: epoch {min(int(num_done) + 1, num_epochs)} of {num_epochs}")
        self.set_postfix_str("; ".join(parts), refresh=False)
        self._advance()

    def end(self, run: Run) -> None:
        self._complete[run] = 1.0
        self._advance()

    def _advance(self) -> None:
        self.update(round(sum(self._complete.values()), 2) - self.n)


def _check_outputs(
    folder: Path, configs: Mapping[Run, Any], settings: AblationSettings, force: bool
) -> None:
    """
    Raises `ConfigurationError` if an output is an input, or would replace a file that no ablation
    wrote.
    """
    reports = [folder / name for name in ("results.json", "table.md", "chart.png")]
    if is_report(folder / "results.json"):
        reports = []
    of_runs = [run.config_file for run in configs if not run.log.exists()]
    inputs = [settings.configs / f"{run.variant}.jsonnet" for run in configs]
    paths = [name for config in configs.values() for name in paths_in(config)]
    folders = [run.folder for run in configs]
    check_outputs([*reports, *of_runs], dict.fromkeys([*inputs, *paths]), force, folders)


def _line(run: Run, result: dict[str, Any], report: Report) -> str:
    if result["status"] == "failed":
        return f"{run}: failed ({result['error']}); its log is {run.log}"
    metric, _, unit = label(report).partition(",")
    return (
        f"{run}: {metric} {format_score(report, result['value'])}{unit} after epoch "
        f"{result['best_epoch'] + 1} of {result['epochs']}"
    )


def _write(report: Report, folder: Path) -> None:
    write_whole(folder / "results.json", json.dumps(report, indent=2) + "\n")
    write_whole(folder / "table.md", text_of(report))
    if len(fractions_of(report)) > 1:
        with atomic_write(folder / "chart.png") as aside:
            draw_ablation(report).savefig(aside, format="png", dpi=150)


def start(
    run: Run, config: Mapping[str, Any], packages: Iterable[str] = (), anew: bool = False
) -> subprocess.Popen | None:
    """
    Starts the training of a run, or continues it from its last checkpoint. Returns the process that
    trains, or `None` if the run is complete. The process runs `elmo-tasks train`. That command
    refuses a folder that another process uses, or that has files but no config of a training run.

    # Parameters

    packages: Packages that the process imports, as with `--include-package`.
    anew: Whether to replace an existing training run.
    """
    if run.is_complete() and not anew:
        return None
    run.log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "elmo_tasks", "train", str(run.config_file)]
    command += ["-s", str(run.folder), "--file-friendly-logging"]
    for package in packages:
        command += ["--include-package", package]
    if anew:
        command.append("--force")
    elif run.trained_config() is not None:
        # Without a checkpoint, the training begins anew. Nothing is removed first.
        command.append("--recover")
    write_whole(run.config_file, json.dumps(config, indent=2) + "\n")
    with open(run.log, "ab") as log:
        log.write(f"$ {shlex.join(command)}\n".encode())
        log.flush()
        return _process(command, log)


def train_all(
    runs: Iterable[Run],
    begin: Callable[[Run], subprocess.Popen | None],
    jobs: int,
    show: Callable[[Collection[Run]], object] = lambda running: None,
) -> Generator[tuple[Run, subprocess.Popen | None], None, None]:
    """
    Trains `jobs` runs at the same time. Yields each run with its process when the process has
    ended. Meanwhile, calls `show` several times a second with the runs in training. When the
    generator is closed, stops the running processes.
    """
    waiting, running = list(runs), dict[Run, subprocess.Popen | None]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                run = waiting.pop(0)
                running[run] = begin(run)
            finished_runs = [
                run for run, process in running.items() if not process or process.poll() is not None
            ]
            for run in finished_runs:
                yield run, running.pop(run)
            if not finished_runs:
                show(running)
                time.sleep(0.2)
    finally:
        for process in filter(None, running.values()):
            process.terminate()
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def why_failed(run: Run, process: subprocess.Popen | None, anew: bool = False) -> str | None:
    """Returns why a training run that has ended failed, or `None`."""
    # A training run that was to be replaced is still there if its folder was refused.
    if process is None or (run.is_complete() and not (anew and process.returncode)):
        return None
    code = process.returncode
    lines = run.log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"{f'signal {-code}' if code < 0 else f'exit {code}'}: {last}"


def _process(command: list[str], log: BinaryIO) -> subprocess.Popen:
    # The log of a run has all messages, since nobody watches the run. In the log, progress bars are
    # lines, even if this process shows bars.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TQDM_")}
    env = {"ALLENNLP_LOG_LEVEL": "INFO", **variables}
    return subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
    )
