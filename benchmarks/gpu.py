"""
Measures ELMo on a GPU: the layers of biLMs beside the arithmetic of AllenNLP's, ELMo of a text, and
pre-training. It needs PyTorch, h5py, safetensors, filelock and tqdm, but neither AllenNLP nor a
network. Writes `gpu.json` and a table in Markdown, `gpu.md`, after each part.

    make gpu
    python3 -m benchmarks.gpu --out build/gpu --minutes 25

A part that `gpu.json` has is not measured again, so the same command goes on where it ended. On a
machine that is lent for commands of ten minutes, give this one several times, and fetch the files
after each:

    python3 -m benchmarks.gpu --out build/gpu --minutes 8

If a new machine is lent in between, put `gpu.json` back into `build/gpu` first. `--minutes` ends
the command between two parts; a part should take less than a minute on a large GPU.

Weights are random, but for `base`, and the text is made up: words of random letters, a few of them
frequent, in sentences of 20 tokens on average. Each figure is the median of turns that alternate
between the rows of a part. An error is the largest difference from AllenNLP's layers in float32.
"""

import argparse
import functools
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import torch

from benchmarks.gpu_table import table
from benchmarks.gpu_training import trainer
from benchmarks.graphed_bilm import GraphedBiLm
from benchmarks.machine import machine
from benchmarks.made_up_text import made_up_text, word_ids
from benchmarks.plain_bilm import PlainBiLm
from benchmarks.sizes import SHIPPED, make_options
from elmo_tasks.bilm import BiLm, FrozenBiLm, make_bilm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.bilm.files.known_bilms import bilm_files
from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.files import atomic_write
from elmo_tasks.elmo import ElmoEncoder

Row = dict[str, Any]
Works = dict[str, Callable[[], Any]]


def main() -> None:
    arguments = parse()
    start = time.monotonic()
    file = arguments.out / "gpu.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    found = {"machine": describe(arguments.device), "parts": found.get("parts", {})}
    for name, measure in parts(arguments):
        if name in found["parts"]:
            continue
        if time.monotonic() - start > 60 * arguments.minutes:
            print(f"{arguments.minutes} minutes are over; the same command goes on with {name}.")
            break
        print(f"{name} ...", flush=True)
        found["parts"][name] = measure()
        write(file, json.dumps(found, indent=2))
        write(file.with_suffix(".md"), table(found))
    print(table(found))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as aside:
        aside.write_text(text + "\n", encoding="utf-8")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("build/gpu"), help="folder (default: build/gpu)")
    add("--minutes", type=float, default=25, help="time for starting parts (default: 25)")
    add("--device", default="cuda", help="cuda or cpu (default: cuda)")
    add("--sizes", nargs="+", default=["small", "original", "base"],
        help="sizes of biLMs (default: small original base)")  # fmt: skip
    add("--batch-sizes", nargs="+", type=int, default=[64, 256], help="sentences (default: 64 256)")
    add("--sentences", type=int, default=20_000, help="of the text (default: 20000)")
    add("--samples", type=int, default=8192, help="words drawn by the softmax (default: 8192)")
    add("--turns", type=int, default=7, help="turns of each row (default: 7)")
    return parser.parse_args()


def describe(device: str) -> str:
    name = torch.cuda.get_device_name() if device == "cuda" else machine()
    return f"{date.today()}, {name}, torch {torch.__version__}"


def parts(arguments: argparse.Namespace) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """Yields the name of each part, and what measures it."""
    for batch_size in arguments.batch_sizes:
        for size in arguments.sizes:
            name = f"layers of {size}, batches of {batch_size}"
            yield name, functools.partial(layers, size, batch_size, arguments)
    for size in arguments.sizes:
        yield f"ELMo of a text by {size}", functools.partial(corpus, size, arguments)
    for size in arguments.sizes:
        if size not in SHIPPED:
            yield f"pre-training of {size}", functools.partial(training, size, arguments)


def layers(size: str, batch_size: int, arguments: argparse.Namespace) -> list[Row]:
    char_ids = batch_char_ids(made_up_text(batch_size)).to(arguments.device)
    in_float32 = frozen(size, "float32", arguments.device)
    in_bfloat16 = frozen(size, "bfloat16", arguments.device)
    plain = PlainBiLm(in_float32)
    works: Works = {
        "AllenNLP's arithmetic, float32": lambda: plain(char_ids),
        "AllenNLP's arithmetic, TF32": lambda: plain(char_ids),
    }
    for dtype, bilm in (("float32", in_float32), ("TF32", in_float32), ("bfloat16", in_bfloat16)):
        works[dtype] = lambda bilm=bilm: bilm(char_ids).layers  # type: ignore[misc]
        works[f"{dtype}, CUDA graph"] = graphed(bilm, char_ids)
    with torch.no_grad():
        with tensor_float32(False):
            expected = plain(char_ids)
        return alternate(
            works,
            int((char_ids[..., 0] > 0).sum()),
            arguments,
            lambda output: (output - expected).abs().max().item(),
        )


def graphed(bilm: BiLm, char_ids: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Returns a function that captures a graph in its first call, and runs it in all calls."""
    made: list[GraphedBiLm] = []

    def run() -> torch.Tensor:
        if not made:
            made.append(GraphedBiLm(bilm, char_ids))
        return made[0](char_ids)

    return run


def corpus(size: str, arguments: argparse.Namespace) -> list[Row]:
    text = made_up_text(arguments.sentences)
    works: Works = {}
    for dtype in ("float32", "TF32", "bfloat16"):
        bilm = frozen(size, "bfloat16" if dtype == "bfloat16" else "float32", arguments.device)
        for batch_tokens in (2048, 16384):
            encoder = ElmoEncoder(bilm, batch_tokens=batch_tokens)
            name = f"{dtype}, batches of {batch_tokens:,} tokens"
            works[name] = lambda encoder=encoder: sum(map(len, encoder.vectors(text)))  # type: ignore[misc]
    return alternate(works, sum(map(len, text)), arguments)


def training(size: str, arguments: argparse.Namespace) -> list[Row]:
    """Measures steps on batches of 2,560 tokens, as the config of this size has them."""
    text = [["<S>", *words, "</S>"] for words in made_up_text(arguments.sentences)]
    chosen = list(batches_by_length(list(map(len, text)), 2560))
    random.Random(0).shuffle(chosen)
    batches = [[text[index] for index in batch] for batch in chosen[:8]]
    tensors = [
        (batch_char_ids(batch).to(arguments.device), word_ids(batch).to(arguments.device))
        for batch in batches
    ]
    works: Works = {
        dtype: trainer(size, dtype == "bfloat16", tensors, arguments.samples)
        for dtype in ("float32", "TF32", "bfloat16")
    }
    # Each direction predicts all tokens of a sentence but the first.
    return alternate(works, sum(len(words) - 1 for batch in batches for words in batch), arguments)


def alternate(
    works: Works,
    num_tokens: int,
    arguments: argparse.Namespace,
    error: Callable[[Any], float] | None = None,
) -> list[Row]:
    """
    Returns a row for each work, with its tokens a second and the error of its result. The turns end
    after a few seconds for each row. A work that fails, as for want of memory, has its message.
    """
    rows: dict[str, Row] = {name: {"what": name} for name in works}
    times: dict[str, list[float]] = {name: [] for name in works}
    stop = time.monotonic() + 4 * len(works)
    # The first turn warms up.
    for turn in range(arguments.turns + 1):
        if turn > 1 and time.monotonic() > stop:
            break
        for name, work in works.items():
            if "failed" in rows[name]:
                continue
            try:
                result, taken = timed(work, "TF32" in name, arguments.device)
                if turn > 0:
                    times[name].append(taken)
                elif error is not None:
                    rows[name]["error"] = error(result)
            except RuntimeError as problem:
                rows[name]["failed"] = str(problem).splitlines()[0]
    for name, row in rows.items():
        if "failed" not in row:
            row["tokens_per_second"] = num_tokens / statistics.median(times[name])
    return list(rows.values())


def timed(work: Callable[[], Any], in_tf32: bool, device: str) -> tuple[Any, float]:
    """Returns the result of a work, and its seconds."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    with tensor_float32(in_tf32):
        wait()
        start = time.perf_counter()
        result = work()
        wait()
        return result, time.perf_counter() - start


@contextmanager
def tensor_float32(allowed: bool) -> Iterator[None]:
    """Within the context, products in float32 may, or may not, round their factors to TF32."""
    backends = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [backend.allow_tf32 for backend in backends]
    try:
        for backend in backends:
            backend.allow_tf32 = allowed
        yield
    finally:
        for backend, was_allowed in zip(backends, before):
            backend.allow_tf32 = was_allowed


def frozen(size: str, dtype: str, device: str) -> FrozenBiLm:
    """Returns a biLM of the package, or one with random weights, the same ones for all dtypes."""
    torch.manual_seed(0)
    bilm: BiLm
    if size in SHIPPED:
        bilm = make_bilm(*bilm_files(size), dtype=dtype, state="reset", cached_tokens=0)
    else:
        bilm = make_bilm(make_options(size), requires_grad=True)
    return FrozenBiLm.of(bilm, dtype=dtype).to(device)


if __name__ == "__main__":
    main()
