"""
Measures an epoch of each task with ELMo at both places and a store that has all layers, so that the
time is the task model's own. Prints a table in Markdown.

    python benchmarks/epochs.py --tasks sst ner --instances 2000

Each task runs in a process of its own: it reads the first instances of the training data that its
config names, fills the store in one epoch, and measures the next one. A step is the loss of a
batch, its gradients, their norm and the optimizer; an epoch also has the making of the batches.
Seconds are CPU time, which other processes on the machine change less than the time of a clock.
"Data" is the memory of the instances and their indices, "peak" the largest resident set.
"""

import argparse
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, TensorDict, Vocabulary
from allennlp.models import Model
from allennlp.training.optimizers import Optimizer

import elmo_tasks.plugin  # noqa: F401  registers every name
from benchmarks.machine import machine

ROOT = Path(__file__).parents[1]
TASKS = ("sst", "snli", "squad", "ner")


class Epoch(NamedTuple):
    """What an epoch of a task takes. Memory is in megabytes, times are in seconds."""

    instances: int
    tokens: int
    step: float
    epoch: float
    data: float
    peak: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, help="default: all")
    parser.add_argument("--instances", type=int, default=2000, help="default: 2000")
    parser.add_argument("--threads", type=int, default=1, help="default: 1")
    parser.add_argument("--set", default="{}", help="a jsonnet object that is added to each config")
    arguments = parser.parse_args()
    print(
        f"{date.today()}, {machine()}, {arguments.threads} thread(s), torch {torch.__version__}, "
        f"{torch.backends.cpu.get_cpu_capability()}\n"
    )
    print("| task | instances | tokens | ms a step | s an epoch | tokens/s | data | peak |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for task in arguments.tasks:
        # A process of its own, because the peak of a process never falls.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(measure, (task, arguments))
        print(
            f"| {task} | {found.instances:,} | {found.tokens:,} | {1000 * found.step:.0f} "
            f"| {found.epoch:.1f} | {found.tokens / found.epoch:,.0f} | {found.data:,.0f} MB "
            f"| {found.peak:,.0f} MB |",
            flush=True,
        )


def measure(task: str, arguments: argparse.Namespace) -> Epoch:
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as store:
        path = ROOT / "training_configs" / task / "both.jsonnet"
        snippet = f"(import '{path}') {{ store: '{store}' }} + {arguments.set}"
        config = json.loads(_jsonnet.evaluate_snippet(task, snippet))
        before = resident_megabytes()
        loader, vocab = read(config, arguments.instances)
        data = resident_megabytes() - before
        model = Model.from_params(Params(config["model"]), vocab=vocab).train()
        parameters = [
            (name, tensor) for name, tensor in model.named_parameters() if tensor.requires_grad
        ]
        optimizer = Optimizer.from_params(
            Params(config["trainer"]["optimizer"]), model_parameters=parameters
        )
        norm = config["trainer"].get("grad_norm")
        # The first epoch fills the store.
        for _ in range(2):
            torch.manual_seed(0)
            times, start = [], time.process_time()
            for batch in loader:
                begin = time.process_time()
                step(model, optimizer, norm, batch)
                times.append(time.process_time() - begin)
            epoch = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    num_instances = sum(1 for _ in loader.iter_instances())
    return Epoch(num_instances, count_tokens(loader), statistics.median(times), epoch, data, peak)


def read(config: dict[str, Any], max_instances: int) -> tuple[DataLoader, Vocabulary]:
    reader = DatasetReader.from_params(
        Params({**config["dataset_reader"], "max_instances": max_instances})
    )
    loader = DataLoader.from_params(
        Params(config["data_loader"]), reader=reader, data_path=config["train_data_path"]
    )
    vocab = Vocabulary.from_params(Params(config["vocabulary"]), instances=loader.iter_instances())
    loader.index_with(vocab)
    return loader, vocab


def step(
    model: Model, optimizer: torch.optim.Optimizer, norm: float | None, batch: TensorDict
) -> None:
    optimizer.zero_grad()
    loss = model(**batch)["loss"] + (model.get_regularization_penalty() or 0)
    loss.backward()
    if norm is not None:
        trained = [tensor for tensor in model.parameters() if tensor.requires_grad]
        torch.nn.utils.clip_grad_norm_(trained, norm)
    optimizer.step()


def count_tokens(loader: DataLoader) -> int:
    return sum(
        len(field.tokens)
        for instance in loader.iter_instances()
        for field in instance.fields.values()
        if hasattr(field, "token_indexers")
    )


def resident_megabytes() -> float:
    """Returns the resident set of this process, which Linux tells in pages."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


if __name__ == "__main__":
    main()
