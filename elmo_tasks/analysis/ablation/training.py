import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, BinaryIO

from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.common.files import write_whole

# A stopped training has this many seconds to archive its best weights and to end.
_SECONDS_TO_END = 60


def start(
    run: Run, config: Mapping[str, Any], packages: Iterable[str] = ()
) -> subprocess.Popen | None:
    """
    Starts the training of a run, or continues it from its last checkpoint. Returns the process that
    trains, or `None` if the run is complete. `elmo-tasks train` itself refuses a folder that has
    other files than those of a training, or that another process uses.

    # Parameters

    packages: Packages that the process imports, as with `--include-package`.
    """
    if run.is_complete():
        return None
    run.log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "elmo_tasks", "train", str(run.config_file)]
    command += ["-s", str(run.folder), "--file-friendly-logging"]
    for package in packages:
        command += ["--include-package", package]
    if run.is_interrupted():
        command.append("--recover")
    write_whole(run.config_file, json.dumps(config, indent=2) + "\n")
    with open(run.log, "ab") as log:
        log.write(f"$ {shlex.join(command)}\n".encode())
        log.flush()
        return _process(command, log)


def train_all(
    runs: Iterable[Run], begin: Callable[[Run], subprocess.Popen | None], jobs: int
) -> Generator[tuple[Run, subprocess.Popen | None], None, None]:
    """
    Trains `jobs` runs at the same time, and yields each run with its process when it has ended.
    Stops the running processes when the generator is closed.
    """
    waiting, running = list(runs), dict[Run, subprocess.Popen | None]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                run = waiting.pop(0)
                running[run] = begin(run)
            ended = [
                run for run, process in running.items() if not process or process.poll() is not None
            ]
            for run in ended:
                yield run, running.pop(run)
            if not ended:
                time.sleep(0.2)
    finally:
        for process in filter(None, running.values()):
            process.terminate()
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def why_failed(run: Run, process: subprocess.Popen | None) -> str | None:
    """Returns why a training that has ended failed, or `None`."""
    if process is None or run.is_complete():
        return None
    code = process.returncode
    lines = run.log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"{f'signal {-code}' if code < 0 else f'exit {code}'}: {last}"


def _process(command: list[str], log: BinaryIO) -> subprocess.Popen:
    # The log of a run has all messages, since nobody watches the run.
    env = {"ALLENNLP_LOG_LEVEL": "INFO", **os.environ}
    return subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
    )
