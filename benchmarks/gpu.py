"""
Measures ELMo on a GPU: the layers of biLMs beside the arithmetic of AllenNLP's, ELMo of a text, and
pre-training. It needs PyTorch, h5py, safetensors, filelock and tqdm, but neither AllenNLP nor a
network. Writes `gpu.json` and a table in Markdown, `gpu.md`, after each part.

    make gpu
    python3 -m benchmarks.gpu --out build/gpu --minutes 8

A part that `gpu.json` has is not measured again, so the same command goes on where it ended, also
on another machine that has the file. `--minutes` ends the command between two parts; a part should
take less than a minute on a large GPU.

Weights are random, but for `base`, and the text is made up: words of random letters, a few of them
frequent, in sentences of 20 tokens on average. Each figure is the median of turns that alternate
between the rows of a part. An error is the largest difference from AllenNLP's layers in float32.
"""

import argparse
import functools
import itertools
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from benchmarks.harness import Kept, alternate, heading, parser
from benchmarks.made_up import NUM_WORDS, SHIPPED, made_up_text, make_options, word_ids
from benchmarks.plain_bilm import PlainBiLm
from elmo_tasks.analysis.tables import table
from elmo_tasks.bilm import BiLm, FrozenBiLm, make_bilm
from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.files import write_whole
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.elmo.locate import locate_bilm
from elmo_tasks.language_model.prediction import predict
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax

Row = dict[str, Any]
Works = dict[str, Callable[[], Any]]


def main() -> None:
    arguments = parse()
    start, results = time.monotonic(), Kept(arguments.out / "gpu.json")
    on = torch.cuda.get_device_name() if arguments.device == "cuda" else "no GPU"
    results.results["machine"] = f"{on}, {heading()}"
    for name, measure in parts(arguments):
        if time.monotonic() - start > 60 * arguments.minutes:
            print(f"{arguments.minutes} minutes are over; the same command goes on with {name}.")
            break
        results.get("parts", name, measure=measure)
        write_whole(arguments.out / "gpu.md", tables(results.results) + "\n")
    print(tables(results.results))


def tables(results: dict[str, Any]) -> str:
    """Returns a table for each part. Each row is compared with the first."""
    lines = [results["machine"]]
    for name, rows in results["parts"].items():
        first, cells = rows[0].get("tokens_per_second"), []
        for row in rows:
            speed = row.get("tokens_per_second")
            times = f"{speed / first:.1f}" if speed and first else ""
            error = f"{row['error']:.0e}" if "error" in row else ""
            speed = f"{speed:,.0f}" if speed else f"failed: {row['failed']}"
            cells.append([row["what"], speed, times, error])
        lines += ["", table([name, "tokens/s", "times the first", "largest error"], cells)]
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    options = parser("gpu", __doc__, turns=7)
    add = options.add_argument
    add("--out", type=Path, default=Path("build/gpu"), help="folder (default: build/gpu)")
    add("--minutes", type=float, default=25, help="time for starting parts (default: 25)")
    add("--device", default="cuda", help="cuda or cpu (default: cuda)")
    add("--sizes", nargs="+", default=["small", "original", "base"], help="of biLMs")
    add("--batch-sizes", nargs="+", type=int, default=[64, 256], help="sentences (default: 64 256)")
    add("--sentences", type=int, default=20_000, help="of the text (default: 20000)")
    add("--samples", type=int, default=8192, help="words drawn by the softmax (default: 8192)")
    return options.parse_args()


def parts(arguments: argparse.Namespace) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """Yields the name of each part, and what measures it."""
    for batch_size, size in itertools.product(arguments.batch_sizes, arguments.sizes):
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
    with torch.no_grad():
        with tensor_float32(False):
            expected = plain(char_ids)
        return compare(
            works,
            int((char_ids[..., 0] > 0).sum()),
            arguments,
            lambda output: (output - expected).abs().max().item(),
        )


def corpus(size: str, arguments: argparse.Namespace) -> list[Row]:
    text = made_up_text(arguments.sentences)
    works: Works = {}
    for dtype in ("float32", "TF32", "bfloat16"):
        bilm = frozen(size, "bfloat16" if dtype == "bfloat16" else "float32", arguments.device)
        for batch_tokens in (2048, 16384):
            encoder = ElmoEncoder(bilm, batch_tokens=batch_tokens)
            name = f"{dtype}, batches of {batch_tokens:,} tokens"
            works[name] = lambda encoder=encoder: sum(map(len, encoder.vectors(text)))  # type: ignore[misc]
    return compare(works, sum(map(len, text)), arguments)


def training(size: str, arguments: argparse.Namespace) -> list[Row]:
    """Measures steps on batches of 2,560 tokens, as the config of this size has them."""
    text = [["<S>", *words, "</S>"] for words in made_up_text(arguments.sentences)]
    batch_indices = list(batches_by_length(list(map(len, text)), 2560))
    random.Random(0).shuffle(batch_indices)
    batches = [[text[index] for index in batch] for batch in batch_indices[:8]]
    tensors = [
        (batch_char_ids(batch).to(arguments.device), word_ids(batch).to(arguments.device))
        for batch in batches
    ]
    works: Works = {
        dtype: trainer(size, dtype == "bfloat16", tensors, arguments.samples)
        for dtype in ("float32", "TF32", "bfloat16")
    }
    # Each direction predicts all tokens of a sentence but the first.
    return compare(works, sum(len(words) - 1 for batch in batches for words in batch), arguments)


def trainer(
    size: str, in_bfloat16: bool, batches: list[tuple[torch.Tensor, torch.Tensor]], num_samples: int
) -> Callable[[], None]:
    """Returns a function that makes a step for each batch: char ids and word ids."""
    device = batches[0][0].device
    bilm = make_bilm(make_options(size), requires_grad=True, dropout=0.1).to(device)
    softmax = SampledSoftmax(NUM_WORDS, bilm.options.projection_dim, num_samples)
    softmax.to(device)
    weights = [*bilm.parameters(), *softmax.parameters()]
    optimizer = torch.optim.Adagrad(weights, lr=0.2, initial_accumulator_value=0.0025)

    def train() -> None:
        for char_ids, words in batches:
            optimizer.zero_grad()
            with torch.autocast(bilm.like.device.type, torch.bfloat16, enabled=in_bfloat16):
                losses = [
                    softmax(output, words.flatten()[targets]).mean()
                    for output, targets in predict(bilm, char_ids)[0]
                ]
            (sum(losses) / 2).backward()
            torch.nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()

    return train


def compare(
    works: Works,
    num_tokens: int,
    arguments: argparse.Namespace,
    error: Callable[[Any], float] | None = None,
) -> list[Row]:
    """
    Returns a row for each work, with its tokens a second and the error of its result. The row of a
    work that fails, as for want of memory, has its message.
    """
    rows: dict[str, Row] = {name: {"what": name} for name in works}
    able = {}
    for name, work in works.items():
        run = functools.partial(wait_for, work, "TF32" in name, arguments.device)
        try:
            result = run()
        except RuntimeError as problem:
            rows[name]["failed"] = str(problem).splitlines()[0]
            continue
        able[name] = run
        if error is not None:
            rows[name]["error"] = error(result)
    for name, seconds in alternate(able, arguments.turns).items():
        rows[name]["tokens_per_second"] = num_tokens / seconds.wall
    return list(rows.values())


def wait_for(work: Callable[[], Any], in_tf32: bool, device: str) -> Any:
    """Returns the result of a work, once the device has computed it."""
    with tensor_float32(in_tf32):
        result = work()
        if device == "cuda":
            torch.cuda.synchronize()
        return result


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
        bilm = make_bilm(*locate_bilm(size).files, dtype=dtype, state="reset", cached_tokens=0)
    else:
        bilm = make_bilm(make_options(size), requires_grad=True)
    return FrozenBiLm.of(bilm, dtype=dtype).to(device)


if __name__ == "__main__":
    main()
