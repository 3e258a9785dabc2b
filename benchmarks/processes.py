"""
Compares the speed of pre-training a biLM on one process and on several of this machine. Prints a
table in Markdown.

    python benchmarks/processes.py [TEXT] [--processes 1 2] [--sizes mini] [--dtypes float32]

A step is what `elmo-tasks train` does with a batch: its share is read, the gradients of the loss
are computed and averaged over the processes, and the optimizer updates the weights. Each process
has the batch of the config, so that n processes make steps of n batches. Tokens per second are all
tokens by the time of day; the CPU time is the largest of a process, for a token of its own, and
does not depend on what else the machine does.
"""

import argparse
import json
import tempfile
import time
from itertools import chain, islice, repeat
from pathlib import Path
from typing import NamedTuple

import torch
from torch import distributed, multiprocessing

from benchmarks.harness import TEXT, parser, report
from benchmarks.pretraining import build, indexed_loader
from benchmarks.task_steps import config_of, optimizer_of
from elmo_tasks.common.processes import rank
from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary
from elmo_tasks.training.several_processes import ElmoDdpAccelerator, share_loss

_WARM_UP = 3


class Measured(NamedTuple):
    """
    # Parameters

    speed: Tokens per second of all processes together.
    cpu: Microseconds of CPU time for a token, in the process that took most.
    """

    speed: float
    cpu: float


def main() -> None:
    made = parser("processes", __doc__)
    add = made.add_argument
    add("text", nargs="?", default=TEXT, type=Path, help="one tokenized sentence a line")
    add("--processes", nargs="+", type=int, default=[1, 2], help="default: 1 2")
    add("--sizes", nargs="+", default=["mini"], help="configs in training_configs/bilm")
    add("--dtypes", nargs="+", default=["float32"], help="float32 and bfloat16 (default: float32)")
    add("--words", type=int, default=50_000, help="words of the softmax (default: 50000)")
    add("--steps", type=int, default=20, help="steps that are measured (default: 20)")
    add("--threads", type=int, default=1, help="threads of a process (default: 1)")
    arguments = made.parse_args()
    torch.set_num_threads(arguments.threads)
    rows = []
    for size in arguments.sizes:
        for dtype in arguments.dtypes:
            found = [measure(size, dtype, count, arguments) for count in arguments.processes]
            for count, (speed, cpu) in zip(arguments.processes, found):
                cells = [f"{speed:,.0f}", f"{speed / found[0].speed:.2f}", f"{cpu:,.0f}"]
                rows.append([size, dtype, count, *cells])
    columns = ["biLM", "dtype", "processes", "tokens/s", "times one", "CPU us/token"]
    about = f"{arguments.text.name}, {arguments.words:,} words, {arguments.steps} steps"
    report(columns, rows, about)


def measure(size: str, dtype: str, count: int, arguments: argparse.Namespace) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(work, (count, folder, size, dtype, arguments), nprocs=count)
        parts = [json.loads(Path(folder, str(index)).read_text()) for index in range(count)]
    return Measured(
        sum(part["tokens"] for part in parts) / max(part["seconds"] for part in parts),
        max(1e6 * part["cpu"] / part["tokens"] for part in parts),
    )


def work(
    index: int, count: int, folder: str, size: str, dtype: str, arguments: argparse.Namespace
) -> None:
    """Trains in one of the processes, and writes what it measured into the folder."""
    torch.set_num_threads(arguments.threads)
    config = config_of("bilm", size)
    batch_tokens = config["data_loader"].get("batch_tokens", 2560)
    # Each process reads the whole text for the vocabulary, before it is one of several.
    loader, vocab = indexed_loader(arguments.text, arguments.words, batch_tokens, CountedVocabulary)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/group", world_size=count, rank=index
    )
    torch.manual_seed(0)
    model = build(config["model"], vocab, dtype)
    optimizer = optimizer_of(model, config["trainer"])
    _, shared = ElmoDdpAccelerator(index, count).wrap_model(model)
    num_tokens = 0
    start = cpu = 0.0
    batches = chain.from_iterable(repeat(loader))
    for step, batch in enumerate(islice(batches, _WARM_UP + arguments.steps)):
        if step == _WARM_UP:
            distributed.barrier()
            start, cpu = time.perf_counter(), time.process_time()
        optimizer.zero_grad()
        outputs = model(**batch)
        num_tokens += int(outputs["num_tokens"]) if step >= _WARM_UP else 0
        share_loss(model, batch, outputs)
        outputs["loss"].backward()
        if rank().num_processes > 1:
            shared.average_gradients()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config["trainer"]["grad_norm"])
        optimizer.step()
    measured = {
        "tokens": num_tokens,
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
    }
    (Path(folder) / str(index)).write_text(json.dumps(measured))
    distributed.barrier()


if __name__ == "__main__":
    main()
