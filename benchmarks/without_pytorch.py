"""
Compares onnxruntime on a file of `elmo-tasks export --onnx` with the frozen biLM that it was made
from: same sentences, sorted by length, same batches, one thread each, turns in alternation. Prints
a table in Markdown. A time is the median of the turns, in seconds of the CPU.

    python benchmarks/without_pytorch.py my/text.txt --bilms mini base

All ways compute each distinct token of a batch once. The last one also finds the tokens that it
computed in the turn before.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy
import torch
from allennlp.common.util import lazy_groups_of

from benchmarks.harness import Time, alternate, parser, report, sentences_of
from elmo_tasks.archives.onnx_file import write_onnx
from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.elmo.locate import locate_bilm

ONNX = "onnxruntime"


def main() -> None:
    options = parser("without_pytorch", __doc__, turns=5)
    add = options.add_argument
    add("text", help="one tokenized sentence a line; plain, .gz or .xz")
    add("--bilms", nargs="+", default=["mini", "base"], help="default: mini base")
    add("--lines", type=int, default=1000, help="lines of the text to read (default: 1000)")
    add("--batch-size", type=int, default=32, help="lines in a batch (default: 32)")
    arguments = options.parse_args()
    torch.set_num_threads(1)
    sentences = sorted(sentences_of(arguments.text, arguments.lines), key=len)
    batches = list(map(batch_char_ids, lazy_groups_of(sentences, arguments.batch_size)))
    num_tokens = sum(map(len, sentences))
    rows = []
    for name in arguments.bilms:
        megabytes, difference, times = measure(name, batches, arguments.turns)
        for what, (_, cpu_seconds, _) in times.items():
            row = [name, f"{megabytes:.0f}", f"{difference:.1e}", what]
            rows.append(
                [*row, f"{num_tokens / cpu_seconds:,.0f}", f"{cpu_seconds / times[ONNX].cpu:.2f}"]
            )
    report(
        ["biLM", "MB", "largest difference", "what", "tokens a CPU second", "onnxruntime's : this"],
        rows,
        f"{ONNX} {version(ONNX)}",
        f"{len(sentences)} lines and {num_tokens} tokens of {Path(arguments.text).name}",
        f"batches of {arguments.batch_size}, medians of {arguments.turns} turns",
    )


def measure(
    name: str, batches: list[torch.Tensor], turns: int
) -> tuple[float, float, dict[str, Time]]:
    """
    Returns the megabytes of the file, the largest difference between layers, and the CPU seconds of
    each way.
    """
    import onnxruntime

    bilm = make_bilm(*locate_bilm(name).files, cached_tokens=0).eval()
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
        ONNX: lambda ids: session.run(["layers"], {"char_ids": ids.numpy()})[0],
        "frozen biLM": lambda ids: bilm(ids).layers.numpy(),
        "frozen biLM, warm cache of tokens": lambda ids: cached(ids).layers.numpy(),
    }

    def run(way: Callable[[torch.Tensor], numpy.ndarray]) -> list[numpy.ndarray]:
        return [way(ids) for ids in batches]

    *other_layers, ours = map(run, ways.values())
    difference = max(
        float(abs(one - another).max())
        for other in other_layers
        for one, another in zip(ours, other)
    )
    works = {what: partial(run, way) for what, way in ways.items()}
    return megabytes, difference, alternate(works, turns)


if __name__ == "__main__":
    main()
