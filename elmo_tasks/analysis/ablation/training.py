import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from allennlp.models.archival import archive_model
from filelock import lock_descriptor
from tqdm import tqdm

from elmo_tasks.analysis.ablation.run import Progress, Run
from elmo_tasks.analysis.ablation.settings import Settings
from elmo_tasks.common.files import atomic_write, write_whole

# A stopped training has this many seconds to archive its best weights and to end.
_SECONDS_TO_END = 60


class Training:
    """
    AllenNLP's training of a run, in a process of its own.

    Except on Windows, the process holds a lock on its log while it lives. So two processes never
    train one run, even if the ablation that started the first process was killed.

    # Parameters

    process: The process that trains; `None` (the default) if the run is complete.
    """

    def __init__(self, run: Run, process: subprocess.Popen | None = None) -> None:
        self.run = run
        self.process = process

    @property
    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def error(self) -> str | None:
        """
        Returns why the training failed, or `None`. Call this only when the training has ended.
        """
        if self.run.progress() == Progress.COMPLETE:
            return None
        assert self.process is not None
        code = self.process.returncode
        return f"{f'signal {-code}' if code < 0 else f'exit {code}'}: {_last_line(self.run.log)}"

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(
    run: Run, settings: Settings, threads: int, packages: Iterable[str] = ()
) -> Training | None:
    """
    Starts the training of a run, or continues it from its last checkpoint.

    # Parameters

    threads: The value of `OMP_NUM_THREADS` for the process.
    packages: Packages that the process imports, as with `--include-package`.

    # Returns

    The training, or `None` if another process is training the run.
    """
    run.log.parent.mkdir(parents=True, exist_ok=True)
    with open(run.log, "ab") as log:
        # On Windows a process inherits no lock, and could not write to a locked log file.
        if os.name != "nt" and not lock_descriptor(log.fileno(), blocking=False):
            return None
        progress = run.progress()
        if progress == Progress.TRAINED:
            _archive(run)
        if progress in (Progress.TRAINED, Progress.COMPLETE):
            return Training(run)
        if progress == Progress.NOTHING and run.folder.exists():
            shutil.rmtree(run.folder)
        write_whole(run.config_file, settings.child(run, run.log.parent))
        command = _command(run, settings.overrides_of(run), packages)
        if progress == Progress.INTERRUPTED:
            command.append("--recover")
        return Training(run, _process(command, threads, log))


def train_all(
    runs: Iterable[Run],
    begin: Callable[[Run], Training | None],
    jobs: int,
    watch: Callable[[Sequence[Training]], None] = lambda running: None,
) -> Generator[Training, None, None]:
    """
    Trains `jobs` runs at the same time, and yields each training when it has ended. Five times a
    second, calls `watch` with the running trainings. Stops them when the generator is closed.
    """
    waiting, running = list(runs), list[Training]()
    announced = set[Run]()
    try:
        while waiting or running:
            for run in list(waiting):
                if len(running) == jobs:
                    break
                training = begin(run)
                if training is not None:
                    waiting.remove(run)
                    running.append(training)
                elif run not in announced:
                    announced.add(run)
                    tqdm.write(f"{run}: another process trains this run; waiting until it ends")
            ended = [training for training in running if training.has_ended]
            for training in ended:
                running.remove(training)
                yield training
            if not ended:
                watch(running)
                time.sleep(0.2)
    finally:
        for training in running:
            training.stop()


def _command(run: Run, overrides: str, packages: Iterable[str]) -> list[str]:
    command = [sys.executable, "-m", "allennlp", "train", str(run.config_file)]
    command += ["-s", str(run.folder), "--file-friendly-logging"]
    if overrides:
        command += ["--overrides", overrides]
    for package in packages:
        command += ["--include-package", package]
    return command


def _process(command: list[str], threads: int, log: BinaryIO) -> subprocess.Popen:
    log.write(f"$ {shlex.join(command)}\n".encode())
    log.flush()
    return subprocess.Popen(
        command,
        # The log of a run has all messages, since nobody watches the run.
        env={"ALLENNLP_LOG_LEVEL": "INFO", **os.environ, "OMP_NUM_THREADS": str(threads)},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
    )


def _archive(run: Run) -> None:
    """Writes the archive of a training that was killed before or while it wrote the archive."""
    config = run.trained_config() or {}
    with atomic_write(run.folder / "model.tar.gz") as aside:
        archive_model(
            run.folder, archive_path=aside, include_in_archive=config.get("include_in_archive")
        )


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
