"""
Compares onnxruntime on a file of `elmo-tasks export --onnx` with the frozen biLM that it was made
from: same sentences, sorted by length, same batches, one thread each, turns in alternation. Prints
a table in Markdown. A time is the median of the turns, in seconds of the CPU.

    python benchmarks/without_pytorch.py my/text.txt --bilms mini base

All ways compute each distinct token of a batch once. The last one also finds the tokens that it
computed in the turn before.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy
import torch

from benchmarks.machine import machine
from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.bilm.files.known_bilms import bilm_files
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.publish.onnx_file import write_onnx


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("text", help="one tokenized sentence a line; plain, .gz or .xz")
    add(
        "--bilms", nargs="+", default=["mini", "base"], help="names or folders (default: mini base)"
    )
    add("--lines", type=int, default=1000, help="lines of the text to read (default: 1000)")
    add("--batch-size", type=int, default=32, help="lines in a batch (default: 32)")
    add("--turns", type=int, default=5, help="turns of each way (default: 5)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    lines = [line.split() for line in islice(read_lines(arguments.text), arguments.lines)]
    sentences = sorted(filter(None, lines), key=len)
    batches = [
        batch_char_ids(sentences[start : start + arguments.batch_size])
        for start in range(0, len(sentences), arguments.batch_size)
    ]
    num_tokens = sum(map(len, sentences))
    print(
        f"{date.today()}, {machine()}, torch {torch.__version__}, onnxruntime "
        f"{version('onnxruntime')}, {len(sentences)} lines and {num_tokens} tokens of "
        f"{Path(arguments.text).name}, batches of {arguments.batch_size}, medians of "
        f"{arguments.turns} turns\n\n"
        "| biLM | MB | largest difference | what | tokens a CPU second | onnxruntime's : this |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    for name in arguments.bilms:
        megabytes, difference, seconds = measure(name, batches, arguments.turns)
        for what, taken in seconds.items():
            ratio = taken / seconds["onnxruntime"]
            print(
                f"| {name} | {megabytes:.0f} | {difference:.1e} | {what} | "
                f"{num_tokens / taken:,.0f} | {ratio:.2f} |",
                flush=True,
            )


def measure(
    name: str, batches: list[torch.Tensor], turns: int
) -> tuple[float, float, dict[str, float]]:
    """
    Returns the megabytes of the file, the largest difference between layers, and the CPU seconds of
    each way.
    """
    import onnxruntime

    bilm = make_bilm(*bilm_files(name), cached_tokens=0).eval()
    cached = FrozenBiLm.of(bilm)
    cached.cached_tokens = 50_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bilm.onnx")
        write_onnx(path, bilm, ElmoMix(bilm.num_layers))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, options)
        megabytes = path.stat().st_size / 1e6
    ways: dict[str, Callable[[torch.Tensor], numpy.ndarray]] = {
        "onnxruntime": lambda ids: session.run(["layers"], {"char_ids": ids.numpy()})[0],
        "frozen biLM": lambda ids: bilm(ids).layers.numpy(),
        "frozen biLM, warm cache of tokens": lambda ids: cached(ids).layers.numpy(),
    }
    difference = 0.0
    for ids in batches:
        ours, *others = (way(ids) for way in reversed(ways.values()))
        difference = max(difference, *(float(abs(ours - other).max()) for other in others))
    times: dict[str, list[float]] = {what: [] for what in ways}
    for _ in range(turns):
        for what, way in ways.items():
            start = time.process_time()
            for ids in batches:
                way(ids)
            times[what].append(time.process_time() - start)
    return megabytes, difference, {what: statistics.median(taken) for what, taken in times.items()}


if __name__ == "__main__":
    main()
