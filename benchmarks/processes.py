"""
Compares the speed of pre-training a biLM on one process and on several of this machine. Prints a
table in Markdown.

    python benchmarks/processes.py [TEXT] [--processes 1 2] [--size mini]

A step is what `elmo-tasks train` does with a batch: its share is read, the gradients of the loss
are computed and averaged over the processes, and the optimizer updates the weights. Each process
has the batch of the config, so that n processes make steps of n batches. Tokens per second are all
tokens by the time of day, in float32.
"""

import argparse
import json
import tempfile
import time
from itertools import chain, islice, repeat
from pathlib import Path

import torch
from torch import distributed, multiprocessing

from benchmarks.harness import TEXT, parser, report
from benchmarks.pretraining import build, indexed_loader
from benchmarks.task_steps import config_of, optimizer_of
from elmo_tasks.common.processes import rank
from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary
from elmo_tasks.training.several_processes import ElmoDdpAccelerator, share_loss

_WARM_UP = 3


def main() -> None:
    options = parser("processes", __doc__)
    add = options.add_argument
    add("text", nargs="?", default=TEXT, type=Path, help="one tokenized sentence a line")
    add("--processes", nargs="+", type=int, default=[1, 2], help="default: 1 2")
    add("--size", default="mini", help="a config in training_configs/bilm (default: mini)")
    add("--words", type=int, default=50_000, help="words of the softmax (default: 50000)")
    add("--steps", type=int, default=20, help="steps that are measured (default: 20)")
    arguments = options.parse_args()
    speeds = [measure(count, arguments) for count in arguments.processes]
    rows = [
        [count, f"{speed:,.0f}", f"{speed / speeds[0]:.2f}"]
        for count, speed in zip(arguments.processes, speeds)
    ]
    about = f"{arguments.size}, {arguments.text.name}, {arguments.words:,} words"
    report(["processes", "tokens/s", "times the first"], rows, about, f"{arguments.steps} steps")


def measure(count: int, arguments: argparse.Namespace) -> float:
    """Returns the tokens per second of all processes together."""
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(work, (count, folder, arguments), nprocs=count)
        parts = [json.loads(Path(folder, str(index)).read_text()) for index in range(count)]
    tokens, seconds = zip(*parts)
    return sum(tokens) / max(seconds)


def work(index: int, count: int, folder: str, arguments: argparse.Namespace) -> None:
    """Trains in one of the processes, and writes its tokens and seconds into the folder."""
    torch.set_num_threads(1)
    config = config_of("bilm", arguments.size)
    batch_tokens = config["data_loader"].get("batch_tokens", 2560)
    # Each process reads the whole text for the vocabulary, before it is one of several.
    loader, vocab = indexed_loader(arguments.text, arguments.words, batch_tokens, CountedVocabulary)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/group", world_size=count, rank=index
    )
    torch.manual_seed(0)
    model = build(config["model"], vocab, "float32")
    optimizer = optimizer_of(model, config["trainer"])
    _, shared = ElmoDdpAccelerator(index, count).wrap_model(model)
    num_tokens, start = 0, 0.0
    batches = chain.from_iterable(repeat(loader))
    for step, batch in enumerate(islice(batches, _WARM_UP + arguments.steps)):
        if step == _WARM_UP:
            distributed.barrier()
            start = time.perf_counter()
        optimizer.zero_grad()
        outputs = model(**batch)
        num_tokens += int(outputs["num_tokens"]) if step >= _WARM_UP else 0
        share_loss(model, batch, outputs)
        outputs["loss"].backward()
        if rank().num_processes > 1:
            shared.average_gradients()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config["trainer"]["grad_norm"])
        optimizer.step()
    measured = [num_tokens, time.perf_counter() - start]
    (Path(folder) / str(index)).write_text(json.dumps(measured))
    distributed.barrier()


if __name__ == "__main__":
    main()
