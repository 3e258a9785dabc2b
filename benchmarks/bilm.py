"""
Compares the speed of a frozen biLM with AllenNLP's: same random weights of the same sizes, same
sentences, one process, turns in alternation. Prints a table in Markdown.

    python benchmarks/bilm.py data/sst/dev.txt --sizes small medium original
    python benchmarks/bilm.py my/text.txt --sizes mini --batch-size 1 --beside 1

The time of a row is the median of the turns. "Bare products" are the matrix products of a pass
alone: the same shapes, through the fastest library call found. The peak memory is that of a process
that loads the biLM and runs the first batch; it includes the libraries. `--beside` runs processes
that never wait beside this one.
"""

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from allennlp.common.util import lazy_groups_of
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.busy import busy
from benchmarks.harness import (
    Time,
    alternate,
    in_a_process,
    parser,
    peak_megabytes,
    report,
    sentences_of,
)
from benchmarks.made_up import SHIPPED, SIZES, make_options
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.characters import PAD_CHARACTER
from elmo_tasks.common.tensors import distinct_rows
from elmo_tasks.elmo.store.layer_store import LayerStore
from elmo_tasks.kernels.frozen_product import FrozenProduct
from elmo_tasks.kernels.packing import Packing

THEIRS, BARE = "AllenNLP's", "bare products"
COLUMNS = ["size", "what", "tokens/s", "against AllenNLP's", "of the bare products"]
COLUMNS += ["largest error", "peak memory"]


def main() -> None:
    options = parser("bilm", __doc__, turns=5, threads=True)
    add = options.add_argument
    add("text", type=Path, help="sentences: lines of tokens, or SST's trees")
    add("--sizes", nargs="+", choices=[*SHIPPED, *SIZES], default=list(SIZES))
    add("--batches", type=int, default=3, help="number of batches (default: 3)")
    add("--batch-size", type=int, default=32, help="sentences (default: 32)")
    add("--beside", type=int, default=0, help="busy processes beside this one (default: 0)")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    batches = read_batches(arguments.text, arguments.batches, arguments.batch_size)
    with busy(arguments.beside):
        measurements = [measure(size, batches, arguments.turns) for size in arguments.sizes]
    report(
        COLUMNS,
        [row for rows, _ in measurements for row in rows],
        f"{arguments.batches} batches of {arguments.batch_size} sentences of {arguments.text.name}",
        f"medians of {arguments.turns} turns",
        times=[time for _, times in measurements for time in times],
    )


def read_batches(text: Path, num_batches: int, size: int) -> list[torch.Tensor]:
    """Returns the char ids of batches of a text."""
    trees = re.compile(r"\([0-4] |\)")
    sentences = [trees.sub("", " ".join(words)).split() for words in sentences_of(text)]
    num_sentences = num_batches * size
    if len(sentences) < num_sentences:
        sys.exit(f"{text} has {len(sentences)} sentences; {num_sentences} are needed")
    return list(map(batch_to_ids, lazy_groups_of(sentences[:num_sentences], size)))


def measure(
    size: str, batches: list[torch.Tensor], turns: int
) -> tuple[list[list[str]], list[Time]]:
    """Returns the rows of a size, and their times."""
    options = make_options(size)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        make_bilm(options, requires_grad=True).to_files(folder)
        files = f"{folder}/options.json", f"{folder}/weights.hdf5"
        theirs = _ElmoBiLm(*files)
        settings: dict[str, dict[str, Any]] = {
            "layers": {"cached_tokens": 0},
            "warm cache of tokens": {},
            "bfloat16": {"cached_tokens": 0, "dtype": "bfloat16"},
            "warm store, memory": {"store": LayerStore()},
            "warm store, disk": {"store": LayerStore(f"{folder}/store", memory=0)},
        }

        def upstream() -> list[torch.Tensor]:
            outputs = []
            for char_ids in batches:
                theirs._elmo_lstm.reset_states()
                outputs.append(torch.stack(theirs(char_ids)["activations"], dim=1))
            return outputs

        runs: dict[str, Callable[[], list[torch.Tensor]]] = {THEIRS: upstream}
        for name, setting in settings.items():
            bilm = make_bilm(options, files[1], **setting)
            runs[name] = lambda bilm=bilm: [bilm(char_ids).layers for char_ids in batches]  # type: ignore
        runs[BARE] = bare_products(options, batches)
        with torch.no_grad():
            outputs = {name: run() for name, run in runs.items()}
            times = alternate(runs, turns)
        peaks = {
            name: in_a_process(peak_memory, library, folder, batches[0].numpy())
            for name, library in ((THEIRS, "theirs"), ("layers", "ours"))
        }
    num_tokens = sum(int((ids > 0).any(-1).sum()) for ids in batches)
    rows = []
    for name, (seconds, *_) in times.items():
        error = largest_error(outputs[name], outputs[THEIRS], batches) if name in settings else None
        row = [size, name, f"{num_tokens / seconds:,.0f}", f"{times[THEIRS].wall / seconds:.1f}"]
        row += [f"{times[BARE].wall / seconds:.2f}", "" if error is None else f"{error:.0e}"]
        rows.append([*row, f"{peaks[name]:,.0f} MB" if name in peaks else ""])
    return rows, list(times.values())


def peak_memory(library: str, folder: str, char_ids: Any) -> float:
    """Returns the megabytes of a process that computes the layers of one batch."""
    files = (f"{folder}/options.json", f"{folder}/weights.hdf5")
    with torch.no_grad():
        bilm = _ElmoBiLm(*files) if library == "theirs" else make_bilm(*files)
        bilm(torch.from_numpy(char_ids))
    return peak_megabytes()


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


def largest_error(
    ours: list[torch.Tensor], theirs: list[torch.Tensor], batches: list[torch.Tensor]
) -> float:
    errors = []
    for layers_of_ours, bounded, char_ids in zip(ours, theirs, batches):
        mask = (char_ids > 0).any(-1)[:, None, :, None]
        errors.append(((layers_of_ours - bounded[:, :, 1:-1]) * mask).abs().max().item())
    return max(errors)


if __name__ == "__main__":
    main()
