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
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from datetime import date
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, NamedTuple

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader
from tqdm import tqdm

import elmo_tasks.plugin  # noqa: F401
from elmo_tasks.analysis.tables import table
from elmo_tasks.commands.in_allennlp.train_command import train_model
from scripts.fault_damage import damage_table

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

# No training takes longer, even on a busy machine.
_MOST_SECONDS = 300

# Batches that are so small that each epoch has several.
_BATCHES = "local BATCHES(size) = { data_loader+: { batch_sampler+: { batch_size: size } } };"

# The config of each training, and what is changed in it. STORE stands for a folder of the run.
TRAININGS = {
    "SST, with a store on disk": ("sst/both", "{ store: 'STORE' } + BATCHES(2)"),
    "SNLI, halving the learning rate": (
        "snli/both",
        "{ halve_learning_rate: true, attention_dropout: 0.2 } + BATCHES(1)",
    ),
    "SQuAD, with moving averages": ("squad/both", "BATCHES(3)"),
    "NER": ("ner/both", "BATCHES(2)"),
    "language model, sampled softmax": ("bilm/small", "{ max_sentences: 60 }"),
}


class Kills(NamedTuple):
    """What came of killing a training again and again."""

    training: str
    num_kills: int
    # How many had saved a checkpoint in the middle of an epoch last.
    num_within: int
    # What differed from the training that was not killed, for each that differed.
    differences: list[str]


def kill_training(name: str, num_kills: int, chance: random.Random) -> Kills:
    """Kills a training `num_kills` times, each time a new one, and recovers it each time."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole")
        since = time.monotonic()
        _finish(_fork(_train, training_config(name, whole), whole))
        seconds = time.monotonic() - since
        expected = results(whole)
        num_done = num_within = 0
        differences = []
        while num_done < num_kills:
            run = Path(folder, "run")
            if _kill(name, run, chance.uniform(0, seconds)):
                num_within += _is_within_an_epoch(run)
                _finish(_fork(_recover, training_config(name, run), run))
                if problem := difference(expected, results(run)):
                    differences.append(problem)
                num_done += 1
            # A training that was faster than the first has ended before it was killed.
            for path in (run, Path(f"{run}.store")):
                shutil.rmtree(path, ignore_errors=True)
    return Kills(name, num_kills, num_within, differences)


def _is_within_an_epoch(folder: Path) -> bool:
    names_of_states = [path.stem.split("_") for path in folder.glob("training_state_e*_b*.th")]
    epochs_and_batches = [(int(epoch[1:]), int(batch[1:])) for *_, epoch, batch in names_of_states]
    return bool(epochs_and_batches) and max(epochs_and_batches)[1] > 0


def _kill(name: str, folder: Path, seconds: float) -> bool:
    """Kills a training after some seconds. Returns `False` if it had ended by then."""
    process = _fork(_train, training_config(name, folder), folder)
    time.sleep(seconds)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


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
            if not key.endswith(("_duration", "_MB")):
                metrics[f"{path.name}: {key}"] = value
    weights = {"best": torch.load(folder / "best.th"), "last": torch.load(last)}
    tensors = {f"{which}: {k}": v for which, state in weights.items() for k, v in state.items()}
    return {**metrics, **tensors}


def difference(expected: dict[str, Any], outcome: dict[str, Any]) -> str:
    """Returns what differs, or an empty string."""
    if expected.keys() != outcome.keys():
        return f"only one has {', '.join(sorted(expected.keys() ^ outcome.keys()))}"
    for key, value in expected.items():
        other = outcome[key]
        same = torch.equal(value, other) if isinstance(value, torch.Tensor) else value == other
        if not same:
            return f"{key} was {value}, is {other}" if not isinstance(value, torch.Tensor) else key
    return ""


def _fork(work: Callable[..., object], *arguments: object) -> ForkProcess:
    """Runs `work` in a fork of this process, without its output."""

    def quietly() -> None:
        with (
            open(os.devnull, "w") as nothing,
            contextlib.redirect_stdout(nothing),
            contextlib.redirect_stderr(nothing),
        ):
            work(*arguments)

    process = multiprocessing.get_context("fork").Process(target=quietly)
    process.start()
    return process


def _finish(process: ForkProcess) -> None:
    process.join(_MOST_SECONDS)
    if process.exitcode is None:
        process.kill()
    if process.exitcode != 0:
        raise RuntimeError(f"a training ended with {process.exitcode}; its error is above")


def _report_kills(trainings: Sequence[str], num_kills: int, seed: int) -> tuple[str, bool]:
    """Returns a table of the kills, and whether all trainings ended alike."""
    # The models of spaCy are loaded once, and not in each fork.
    for name in trainings:
        DatasetReader.from_params(Params(training_config(name, ROOT)["dataset_reader"]))
    rows = [
        kill_training(name, num_kills, random.Random(f"{seed} {name}"))
        for name in tqdm(trainings, unit="training", file=sys.stderr)
    ]
    cells = [
        [training, str(num), str(within), str(num - len(differed)), "; ".join(differed[:2])]
        for training, num, within, differed in rows
    ]
    columns = ["training", "kills", "within an epoch", "equal to the bit", "what differed"]
    return table(columns, cells), not any(kills.differences for kills in rows)


def _report_damage(num_files: int, seed: int) -> tuple[str, bool]:
    """Returns a table of damaged files, and whether each got a clear error or a right answer."""
    rows = damage_table(seed, num_files)
    cells = [[kind, *map(str, counts), "; ".join(map(str, bad[:2]))] for kind, *counts, bad in rows]
    return table(["file", "damaged", "clear error", "right answer", "neither"], cells), not any(
        bad for *_, bad in rows
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add("--seed", type=int, default=0, help="the seed of all damages and moments (default: 0)")
    add("--kills", type=int, default=20, help="kills of each training (default: 20)")
    add("--files", type=int, default=200, help="damaged files of each kind (default: 200)")
    add("--trainings", nargs="+", choices=TRAININGS, metavar="NAME", help="(default: all)")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    # Forks share tqdm's own lock, and a killed one may keep it for ever.
    tqdm.monitor_interval = 0
    tqdm.set_lock(threading.RLock())
    os.chdir(ROOT)
    since = time.monotonic()
    all_well = True
    if args.kills:
        text, all_well = _report_kills(args.trainings or list(TRAININGS), args.kills, args.seed)
        print(f"{text}\n", flush=True)
    if args.files:
        text, well = _report_damage(args.files, args.seed)
        all_well = all_well and well
        print(f"{text}\n")
    minutes = (time.monotonic() - since) / 60
    print(f"{date.today()}; {os.cpu_count()} cores; seed {args.seed}; {minutes:.0f} minutes.")
    sys.exit(0 if all_well else 1)


if __name__ == "__main__":
    main()
