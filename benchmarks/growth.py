"""
Measures how the cost of a frozen biLM grows: tokens per second against the lines of a batch and
against the length of a line, and peak memory against the tokens of a text. Prints two tables in
Markdown and draws a chart.

    python benchmarks/growth.py my/text.txt --chart growth.png

The biLMs have the sizes of `mini` and `small` and random weights. Speeds are those of the layers of
one batch of lines of 20 tokens, and of one line, without a cache of tokens: the median of some
turns, in tokens per second of CPU time, on one thread. For each peak, a process of its own computes
the layers of the text's first tokens and drops them, as `elmo-embed` does after writing them.
"""

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import matplotlib
import torch
from matplotlib import pyplot
from tqdm import tqdm

from benchmarks.machine import machine
from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.elmo.sentence_layers import SentenceLayers

# The widths of the LSTMs, the number of highway layers and the filters.
SIZES = {
    "mini": (512, 128, 1, [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256]]),
    "small": (1024, 128, 1, [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]]),
}
BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
LENGTHS = [5, 10, 20, 50, 100, 200, 500, 1000]
TOKENS = [10_000, 30_000, 100_000, 300_000, 1_000_000]

# For each size: x and y of each point.
Curves = dict[str, list[tuple[int, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("text", help="one tokenized sentence a line; plain, .gz or .xz")
    add("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="default: all")
    add("--batches", nargs="+", type=int, default=BATCHES, help="lines of a batch")
    add("--lengths", nargs="+", type=int, default=LENGTHS, help="tokens of a line")
    add("--tokens", nargs="+", type=int, default=TOKENS, help="tokens of a text")
    add("--turns", type=int, default=3, help="turns of each speed (default: 3)")
    add("--chart", type=Path, default=Path("growth.png"), help="default: growth.png")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    curves: list[Curves] = [{}, {}, {}]
    for size in arguments.sizes:
        tokens = read_tokens(arguments.text, max(20 * max(arguments.batches), *arguments.lengths))
        by_batch, by_length = measure_speeds(size, tokens, arguments)
        memory = [
            (count, in_a_process(peak_megabytes, size, arguments.text, count))
            for count in tqdm(arguments.tokens, desc=f"{size}, memory", leave=False)
        ]
        for curve, points in zip(curves, (by_batch, by_length, memory)):
            curve[size] = points
    print(
        f"{date.today()}, {machine()}, one thread, torch {torch.__version__}, "
        f"{Path(arguments.text).name}, medians of {arguments.turns} turns"
    )
    for head, curve in zip(("lines of 20 tokens", "tokens of a line", "tokens of a text"), curves):
        print(f"\n{table(head, curve)}")
    draw(curves, arguments.chart)


def build(size: str, cached_tokens: int) -> BiLm:
    torch.manual_seed(0)
    cell, projection, num_highway, filters = SIZES[size]
    options = {
        "char_cnn": {
            "activation": "relu",
            "embedding": {"dim": 16},
            "filters": filters,
            "max_characters_per_token": 50,
            "n_characters": 262,
            "n_highway": num_highway,
        },
        "lstm": {
            "cell_clip": 3,
            "dim": cell,
            "n_layers": 2,
            "proj_clip": 3,
            "projection_dim": projection,
            "use_skip_connections": True,
        },
    }
    bilm = make_bilm(options, state="reset", cached_tokens=cached_tokens).eval()
    # Its random weights are wanted.
    bilm.load_state_dict(bilm.state_dict())
    return bilm


def measure_speeds(
    size: str, tokens: list[str], arguments: argparse.Namespace
) -> list[list[tuple[int, float]]]:
    """Returns the points of tokens per second against the batch and against the length."""
    bilm = build(size, cached_tokens=0)
    cases = [(count, 20) for count in arguments.batches]
    cases += [(1, length) for length in arguments.lengths]
    seconds: list[list[float]] = [[] for _ in cases]
    for turn in tqdm(range(arguments.turns + 1), desc=f"{size}, speed", leave=False):
        for taken, (count, length) in zip(seconds, cases):
            lines = [tokens[length * row : length * (row + 1)] for row in range(count)]
            char_ids = batch_char_ids(lines)
            begun = time.process_time()
            bilm(char_ids)
            # The first turn warms up.
            if turn:
                taken.append(time.process_time() - begun)
    speeds = [
        count * length / statistics.median(taken) for taken, (count, length) in zip(seconds, cases)
    ]
    split = len(arguments.batches)
    return [
        list(zip(arguments.batches, speeds[:split])),
        list(zip(arguments.lengths, speeds[split:])),
    ]


def peak_megabytes(size: str, text: str, num_tokens: int) -> float:
    """Computes the layers of the first tokens of a text; returns the peak memory of the process."""
    torch.set_num_threads(1)
    layers = SentenceLayers(build(size, cached_tokens=50_000))
    for _ in layers(first_lines(text, num_tokens)):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def in_a_process(function: Callable[..., float], *arguments: Any) -> float:
    """Calls a function in a process of its own, because the peak of a process never falls."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def read_tokens(text: str, count: int) -> list[str]:
    """Returns the first tokens of a text, which is read over and over if it has too few."""
    return [word for line in first_lines(text, count) for word in line][:count]


def first_lines(text: str, num_tokens: int) -> Iterator[list[str]]:
    """Yields lines of a text, over and over, until they have this many tokens."""
    while num_tokens > 0:
        for line in read_lines(text):
            words = list(islice(line.split(), num_tokens))
            num_tokens -= len(words)
            if words:
                yield words
            if num_tokens <= 0:
                return


def table(head: str, curve: Curves) -> str:
    counts = [count for count, _ in next(iter(curve.values()))]
    rows = [f"| {head} | {' | '.join(f'{count:,}' for count in counts)} |"]
    rows.append("| --- |" + len(counts) * " --- |")
    for size, points in curve.items():
        rows.append(f"| `{size}` | {' | '.join(f'{value:,.0f}' for _, value in points)} |")
    return "\n".join(rows)


def draw(curves: list[Curves], path: Path) -> None:
    matplotlib.use("agg")
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    labels = [
        ("lines of 20 tokens in a batch", "tokens per second"),
        ("tokens of a line, one line in a batch", "tokens per second"),
        ("tokens of a text", "peak memory, MB"),
    ]
    for axis, curve, (x_label, y_label) in zip(axes, curves, labels):
        for size, points in curve.items():
            axis.plot(*zip(*points), marker="o", markersize=4, label=size)
        axis.set(xlabel=x_label, ylabel=y_label, xscale="log", ylim=(0, None))
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
