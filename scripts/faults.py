"""
Kills trainings and damages files, and prints what came of it as Markdown tables (`make faults`).

Each training is small, with dropout. It runs once without interruption, and then again and again:
each time it is killed (`kill -9`) at a random moment, recovered with `--recover`, and compared with
the run that was not interrupted, to the bit.
"""

import argparse
import contextlib
import copy
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import _jsonnet
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params

import elmo_tasks.plugin  # noqa: F401
from elmo_tasks.analysis.environment import describe_environment
from elmo_tasks.analysis.tables import table

ROOT = Path(__file__).resolve().parents[1]

# A checkpoint after every second batch, so that most kills come in the middle of
# an epoch.
_OFTEN = """{
  trainer+: {
    checkpointer: { type: 'elmo', save_every_num_batches: 2 },
    enable_default_callbacks: false,
    run_confidence_checks: false,
  },
}"""

# Batches that are so small that each epoch has several.
_BATCHES = "local BATCHES(size) = { data_loader+: { batch_sampler+: { batch_size: size } } };"

# The config of each training, and what is changed in it. STORE stands for a folder of the run.
TRAININGS = {
    "SST, with a store on disk": ("sst/both", "{ store: 'STORE' } + BATCHES(8)"),
    "SNLI, halving the learning rate": (
        "snli/both",
        "{ halve_learning_rate: true, attention_dropout: 0.2 } + BATCHES(2)",
    ),
    "SQuAD, with moving averages": ("squad/both", "BATCHES(3)"),
    "NER": ("ner/both", "BATCHES(2)"),
    "language model, sampled softmax": ("bilm/small", "{ max_sentences: 60 }"),
}


class Kills(NamedTuple):
    """
    What came of the kills of one training.

    # Parameters

    training : `str`
    num_kills : `int`
        The kills that met the training before it had ended.
    num_equal : `int`
        How many of them it ended after with the weights and metrics of the run without a kill.
    differences : `list[str]`
        What differed in the others.
    seconds : `float`
        The duration of the run without a kill.
    """

    training: str
    num_kills: int
    num_equal: int
    differences: list[str]
    seconds: float


def kill_training(name: str, num_kills: int, chance: random.Random) -> Kills:
    """Kills a training `num_kills` times, each time anew, and compares what it ends with."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        since = time.monotonic()
        _wait(
            _fork(lambda: _train(training_config(name, root / "whole"), root / "whole")),
            "uninterrupted",
        )
        seconds = time.monotonic() - since
        expected = results(root / "whole")
        differences = []
        num_done = 0
        while num_done < num_kills:
            run = root / f"{num_done}"
            was_killed = _kill_once(name, run, chance.uniform(0.02, seconds))
            if not was_killed:
                # The training was faster than before, and had ended.
                _remove(run)
                continue
            _wait(_fork(lambda run=run: _recover(training_config(name, run), run)), "recovered")
            num_done += 1
            if difference := difference(expected, results(run)):
                differences.append(difference)
            _remove(run)
    return Kills(name, num_kills, num_kills - len(differences), differences, seconds)


def _kill_once(name: str, folder: Path, seconds: float) -> bool:
    """Kills a training after some seconds. Returns `False` if it had ended by then."""
    pid = _fork(lambda: _train(training_config(name, folder), folder))
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def training_config(name: str, folder: Path, num_epochs: int = 3) -> dict[str, Any]:
    config, change = TRAININGS[name]
    parts = [
        f"(import '{ROOT}/training_configs/{config}.jsonnet')",
        f"(import '{ROOT}/fixtures/tiny.libsonnet')",
        _OFTEN,
        change.replace("STORE", f"{folder}.store"),
        f"{{ trainer+: {{ num_epochs: {num_epochs} }} }}",
    ]
    return json.loads(_jsonnet.evaluate_snippet(name, _BATCHES + " + ".join(parts)))


def _train(config: dict[str, Any], folder: Path) -> None:
    train_model(Params(copy.deepcopy(config)), str(folder))


def _recover(config: dict[str, Any], folder: Path) -> None:
    # A training that was killed before it wrote its config has nothing to go on with.
    has_begun = (folder / "config.json").exists() and (folder / "config.json").stat().st_size > 0
    train_model(Params(copy.deepcopy(config)), str(folder), recover=has_begun, force=not has_begun)


def results(folder: Path) -> dict[str, Any]:
    """Returns the best and the last weights of a training, and its metrics."""
    last = max(folder.glob("model_state_e*_b0.th"))
    metrics = {}
    for path in folder.glob("metrics*.json"):
        for key, value in json.loads(path.read_text()).items():
            if not key.endswith(("_duration", "_MB", "tokens_per_second", "hours_left")):
                metrics[f"{path.name}: {key}"] = value
    weights = {"best": torch.load(folder / "best.th"), "last": torch.load(last)}
    tensors = {f"{which}: {k}": v for which, state in weights.items() for k, v in state.items()}
    return {**metrics, **tensors}


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Returns what differs, or an empty string."""
    if expected.keys() != found.keys():
        return f"only one has {', '.join(sorted(expected.keys() ^ found.keys()))}"
    for key, value in expected.items():
        other = found[key]
        same = torch.equal(value, other) if isinstance(value, torch.Tensor) else value == other
        if not same:
            return f"{key} was {value}, is {other}" if not isinstance(value, torch.Tensor) else key
    return ""


def _fork(work: Callable[[], object]) -> int:
    """Runs `work` in a fork of this process, without its output, and returns the fork's id."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        log = os.open(os.devnull, os.O_WRONLY)
        errors = os.dup(2)
        os.dup2(log, 1)
        os.dup2(log, 2)
        try:
            work()
            status = 0
        except BaseException:
            os.dup2(errors, 2)
            traceback.print_exc()
        finally:
            os._exit(status)
    return pid


def _wait(pid: int, which: str) -> None:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status != 0:
        raise RuntimeError(f"the {which} training ended with {status}")


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(f"{folder}.store", ignore_errors=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    os.chdir(ROOT)
    since = time.monotonic()
    chance = random.Random(int(sys.argv[1]))
    for name in TRAININGS if len(sys.argv) < 4 else [n for n in TRAININGS if sys.argv[3] in n]:
        print(kill_training(name, int(sys.argv[2]), chance), time.monotonic() - since, flush=True)
