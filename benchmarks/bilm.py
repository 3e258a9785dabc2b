"""
Compares the speed of a frozen biLM with AllenNLP's: same random weights of the same sizes, same
sentences, one process, turns in alternation. Prints a table in Markdown.

    python benchmarks/bilm.py data/sst/dev.txt --sizes small medium original

The time of a row is the median of the turns. "Bare products" are the matrix products of a pass
alone: the same shapes, through the fastest library call found. The peak memory is that of a process
that loads the biLM and runs the first batch; it includes the libraries.
"""

import argparse
import multiprocessing
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids
from tqdm import tqdm

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.machine import machine
from benchmarks.sizes import SHIPPED, SIZES, make_options
from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.bilm.characters import PAD_CHARACTER
from elmo_tasks.common.distinct_rows import distinct_rows
from elmo_tasks.elmo.store.layer_store import LayerStore
from elmo_tasks.kernels.frozen_product import FrozenProduct
from elmo_tasks.kernels.packing import Packing


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", type=Path, help="sentences: lines of tokens, or SST's trees")
    parser.add_argument(
        "--sizes",
        nargs="+",
        choices=[*SHIPPED, *SIZES],
        default=list(SIZES),
        help=f"default: {' '.join(SIZES)}",
    )
    parser.add_argument("--batches", type=int, default=3, help="number of batches (default: 3)")
    parser.add_argument("--batch-size", type=int, default=32, help="sentences (default: 32)")
    parser.add_argument("--turns", type=int, default=5, help="turns of each row (default: 5)")
    arguments = parser.parse_args()
    batches = read_batches(arguments.text, arguments.batches, arguments.batch_size)
    print(heading(arguments))
    print("| size | what | tokens/s | against AllenNLP's | of the bare products | largest error |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size in arguments.sizes:
        for row in measure(size, batches, arguments.turns):
            print(row, flush=True)
    print("\n| size | peak memory, AllenNLP's | ours |\n| --- | --- | --- |")
    for size in arguments.sizes:
        theirs, ours = (peak_memory(size, batches[0], whose) for whose in ("theirs", "ours"))
        print(f"| {size} | {theirs:,.0f} MB | {ours:,.0f} MB |", flush=True)


def read_batches(path: Path, num_batches: int, batch_size: int) -> list[torch.Tensor]:
    lines = path.read_text(encoding="utf-8").splitlines()
    sentences = [re.sub(r"\([0-4] |\)", "", line).split(" ") for line in lines if line.strip()]
    if len(sentences) < num_batches * batch_size:
        sys.exit(
            f"{path} has {len(sentences)} sentences; {num_batches} batches of {batch_size} need "
            f"{num_batches * batch_size}"
        )
    return [
        batch_to_ids(sentences[start : start + batch_size])
        for start in range(0, num_batches * batch_size, batch_size)
    ]


def heading(arguments: argparse.Namespace) -> str:
    return (
        f"{date.today()}, {machine()}, {torch.get_num_threads()} thread(s), torch "
        f"{torch.__version__}, {arguments.batches} batches of {arguments.batch_size} sentences of "
        f"{arguments.text.name}, medians of {arguments.turns} turns\n"
    )


def measure(size: str, batches: list[torch.Tensor], turns: int) -> list[str]:
    options = make_options(size)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        make_bilm(options, requires_grad=True).to_files(folder)
        weights = str(Path(folder) / "weights.hdf5")
        theirs = _ElmoBiLm(str(Path(folder) / "options.json"), weights)

        def ours(**settings: Any) -> BiLm:
            return make_bilm(options, weights, **settings)

        disk = LayerStore(str(Path(folder) / "store"), memory=0)
        bilms = {
            "layers": ours(cached_tokens=0),
            "warm cache of tokens": ours(),
            "bfloat16": ours(cached_tokens=0, dtype="bfloat16"),
            "warm store, memory": ours(store=LayerStore()),
            "warm store, disk": ours(store=disk),
        }

        def upstream() -> list[torch.Tensor]:
            outputs = []
            for char_ids in batches:
                theirs._elmo_lstm.reset_states()
                outputs.append(torch.stack(theirs(char_ids)["activations"], dim=1))
            return outputs

        runs: dict[str, Callable[[], list[torch.Tensor]]] = {"AllenNLP's": upstream}
        for name, bilm in bilms.items():
            runs[name] = lambda bilm=bilm: [bilm(char_ids).layers for char_ids in batches]  # type: ignore
        runs["bare products"] = bare_products(options, batches)
        with torch.no_grad():
            outputs = {name: run() for name, run in runs.items()}
            seconds = alternate(runs, turns, size)
    errors = {name: largest_error(outputs[name], outputs["AllenNLP's"], batches) for name in bilms}
    return rows(size, seconds, errors, sum(int((ids > 0).any(-1).sum()) for ids in batches))


def peak_memory(size: str, char_ids: torch.Tensor, whose: str) -> float:
    """Returns the peak memory, in megabytes, of a process that computes the layers of one batch."""
    with tempfile.TemporaryDirectory() as folder:
        make_bilm(make_options(size), requires_grad=True).to_files(folder)
        context = multiprocessing.get_context("spawn")
        receiver, sender = context.Pipe(duplex=False)
        arguments = (whose, folder, char_ids.numpy(), sender)
        process = context.Process(target=send_peak_memory, args=arguments)
        process.start()
        process.join()
        return receiver.recv()


def send_peak_memory(whose: str, folder: str, char_ids: Any, sender: Connection) -> None:
    files = (f"{folder}/options.json", f"{folder}/weights.hdf5")
    with torch.no_grad():
        bilm = _ElmoBiLm(*files) if whose == "theirs" else make_bilm(*files)
        bilm(torch.from_numpy(char_ids))
    # On Linux. `resource` would return the peak of the parent process if that is larger.
    status = Path("/proc/self/status").read_text()
    sender.send(int(re.findall(r"VmHWM:\s*(\d+)", status)[0]) / 1024)


def bare_products(options: dict, batches: list[torch.Tensor]) -> Callable[[], list[torch.Tensor]]:
    """Returns a function that does the matrix products of a pass over the batches, and no more."""
    lstm, filters = options["lstm"], options["char_cnn"]["filters"]
    num_filters = sum(number for _, number in filters)
    cell_dim, projection_dim = lstm["dim"], lstm["projection_dim"]
    shapes: list[tuple[int, int, int]] = []
    for char_ids in batches:
        lengths = (char_ids > 0).any(-1).sum(1)
        distinct, _ = distinct_rows(char_ids[char_ids[..., 0] > 0])
        tokens = len(distinct) + 2
        longest = int((distinct != PAD_CHARACTER).sum(1).float().mean())
        shapes += [(tokens * (longest + 1), 16 * width, number) for width, number in filters]
        shapes += [(tokens, num_filters, 2 * num_filters)] * options["char_cnn"]["n_highway"]
        shapes += [(tokens, num_filters, projection_dim)]
        sizes = Packing.of(lengths + 2).batch_sizes
        for _ in range(2 * lstm["n_layers"]):
            # In blocks of 8 MB, because one product for all steps loses a third of the speed.
            block = (2 << 20) // (4 * cell_dim)
            shapes += [
                (min(block, sum(sizes) - start), projection_dim, 4 * cell_dim)
                for start in range(0, sum(sizes), block)
            ]
            shapes += [(rows, projection_dim, 4 * cell_dim) for rows in sizes]
            shapes += [(rows, cell_dim, projection_dim) for rows in sizes]
    weights = {shape[1:]: FrozenProduct(torch.randn(shape[2], shape[1])) for shape in shapes}
    inputs = {shape: torch.randn(shape[:2]) for shape in shapes}

    def run() -> list[torch.Tensor]:
        for shape in shapes:
            weights[shape[1:]](inputs[shape])
        return []

    return run


def alternate(
    runs: dict[str, Callable[[], list[torch.Tensor]]], turns: int, size: str
) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in tqdm(range(turns), desc=size, leave=False):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def largest_error(
    ours: list[torch.Tensor], theirs: list[torch.Tensor], batches: list[torch.Tensor]
) -> float:
    errors = []
    for found, bounded, char_ids in zip(ours, theirs, batches):
        mask = (char_ids > 0).any(-1)[:, None, :, None]
        errors.append(((found - bounded[:, :, 1:-1]) * mask).abs().max().item())
    return max(errors)


def rows(
    size: str, seconds: dict[str, float], errors: dict[str, float], num_tokens: int
) -> list[str]:
    table, theirs = [], seconds["AllenNLP's"]
    for name, taken in seconds.items():
        ratio = f"{theirs / taken:.1f}"
        bare = f"{seconds['bare products'] / taken:.2f}"
        error = f"{errors[name]:.0e}" if name in errors else ""
        table.append(
            f"| {size} | {name} | {num_tokens / taken:,.0f} | {ratio} | {bare} | {error} |"
        )
    return table


if __name__ == "__main__":
    main()
