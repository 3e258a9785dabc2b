"""
Compares the speed of pre-training a biLM with the bare matrix products that it needs. Prints a
table in Markdown.

    python benchmarks/pretraining.py [TEXT] [--sizes mini small] [--threads 2]

A step is what `elmo-tasks train` does with a batch after reading it: the gradients of the loss,
their norm, and the optimizer. The products are the ones of that step, in its shapes: character
windows times filters, highways and projection for each distinct token, gates and projection for
each step of each LSTM, and contexts times sampled words; each once forward and twice backward. Both
take turns and the medians are compared, so that other work on the machine slows down both. With one
thread, CPU time is measured instead of the time of day. The products are computed by `torch.mm` and
by oneDNN, and the faster way counts.

The default text, of the tests, has few distinct words. Use a text of your own for realistic
figures.
"""

import argparse
import datetime
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.data import TensorDict, Vocabulary
from allennlp.training.optimizers import Optimizer

from benchmarks.machine import machine
from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.characters import PAD_CHARACTER
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.kernels.frozen_product import has_onednn
from elmo_tasks.kernels.packing import Packing
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.language_model.sentence_loader import SentenceLoader
from elmo_tasks.readers.sentences import SentencesReader

# Multiplies x, shape (rows, inner), by a weight, shape (outer, inner).
Multiply = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

ROOT = Path(__file__).parents[1]
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Product(NamedTuple):
    """
    # Parameters

    rows: Rows of the input of each product; the products are done one after the other.
    inner, outer: Widths of the input and of the output.
    """

    rows: list[int]
    inner: int
    outer: int


class Speed(NamedTuple):
    """
    # Parameters

    training, products: Tokens per second.
    """

    training: float
    products: float


def main() -> None:
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    print(f"{heading(arguments)}\n")
    print("| biLM | products in | tokens/s, training | tokens/s, bare products | ratio |")
    print("|---|---|---:|---:|---:|")
    for size in arguments.sizes:
        for dtype in arguments.dtypes:
            speed = measure(size, dtype, arguments)
            print(
                f"| {size} | {dtype} | {speed.training:,.0f} | {speed.products:,.0f} |"
                f" {speed.training / speed.products:.0%} |",
                flush=True,
            )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Compares the speed of pre-training with its bare matrix products."
    )
    add = parser.add_argument
    add("text", nargs="?", default=ROOT / "fixtures" / "corpus" / "train.txt", type=Path,
        help="one tokenized sentence a line; plain, .gz or .xz (default: the text of the tests,"
        " read over and over)")  # fmt: skip
    add(
        "--sizes",
        nargs="+",
        default=["mini", "small"],
        help="configs in training_configs/bilm (default: mini small)",
    )
    add("--dtypes", nargs="+", default=list(DTYPES), choices=DTYPES, help="default: both")
    add("--words", type=int, default=50_000, help="words of the softmax (default: 50000)")
    add("--batches", type=int, default=4, help="batches in a turn (default: 4)")
    add("--turns", type=int, default=5, help="turns of training and of products (default: 5)")
    add("--threads", type=int, default=torch.get_num_threads(), help="default: PyTorch's choice")
    add("--device", default="cpu", help="cpu or cuda (default: cpu)")
    add("--quick", action="store_true", help="run one turn on one small batch, as a test")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.batches = arguments.turns = 1
    return arguments


def heading(arguments: argparse.Namespace) -> str:
    on = arguments.device
    name = torch.cuda.get_device_name() if on == "cuda" else machine()
    return (
        f"{name}, {arguments.threads} threads, PyTorch {torch.__version__}, "
        f"{datetime.date.today()}; {arguments.text.name}, {arguments.words:,} words; medians of "
        f"{arguments.turns} turns of {arguments.batches} batches"
    )


def measure(size: str, dtype: str, arguments: argparse.Namespace) -> Speed:
    config = json.loads(_jsonnet.evaluate_file(f"{ROOT}/training_configs/bilm/{size}.jsonnet"))
    tokens_at_most = 256 if arguments.quick else config["data_loader"].get("batch_tokens", 2560)
    vocab, batches = read(arguments, tokens_at_most)
    torch.manual_seed(0)
    model = build(config["model"], vocab, dtype).to(arguments.device)
    optimizer = Optimizer.from_params(
        Params(config["trainer"]["optimizer"]),
        model_parameters=[[name, tensor] for name, tensor in model.named_parameters()],
    )
    num_classes = model.softmax.num_samples or model.softmax.num_classes
    char_ids = [batch["tokens"]["elmo"]["elmo_tokens"] for batch in batches]
    products = [
        product for ids in char_ids for product in products_of(model.bilm.options, ids, num_classes)
    ]

    def training() -> None:
        for batch in batches:
            optimizer.zero_grad()
            model(**batch)["loss"].backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), config["trainer"]["grad_norm"])
            optimizer.step()

    # The bare products are the faster of PyTorch's and oneDNN's, if it has them for this CPU.
    multiplications = [by_torch, by_onednn] if has_onednn(DTYPES[dtype]) else [by_torch]
    bare = [
        prepare(products, DTYPES[dtype], arguments.device, multiply) for multiply in multiplications
    ]
    seconds: dict[Callable[[], None], list[float]] = {training: [], **{run: [] for run in bare}}
    for turn in seconds:
        turn()  # Warms up.
    for _ in range(arguments.turns):
        for turn, taken in seconds.items():
            taken.append(time_of(turn, arguments.device))
    # Each direction reads every token of a sentence except the last one.
    num_tokens = sum(int((ids > 0).any(dim=2).sum()) - len(ids) for ids in char_ids)
    speed, *products_speeds = (num_tokens / statistics.median(taken) for taken in seconds.values())
    return Speed(speed, max(products_speeds))


def read(arguments: argparse.Namespace, batch_tokens: int) -> tuple[Vocabulary, list[TensorDict]]:
    """Returns a vocabulary and batches of the text (see `indexed_loader`)."""
    loader, vocab = indexed_loader(arguments, batch_tokens)
    loader.set_target_device(torch.device(arguments.device))

    def endless() -> Iterator[TensorDict]:
        while True:
            yield from loader

    batches = endless()
    return vocab, [next(batches) for _ in range(arguments.batches)]


def indexed_loader(
    arguments: argparse.Namespace, batch_tokens: int
) -> tuple[SentenceLoader, Vocabulary]:
    """
    Returns a loader of the text, and a vocabulary of `--words` words, the text's own words first
    and made-up ones after them.
    """
    reader = SentencesReader(max_instances=50_000)
    loader = SentenceLoader(reader, str(arguments.text), batch_tokens)
    vocab = Vocabulary.from_instances(
        loader.iter_instances(), max_vocab_size={"tokens": arguments.words - 1}
    )
    for index in range(arguments.words + 1 - vocab.get_vocab_size("tokens")):
        vocab.add_token_to_namespace(f"@@{index}@@", "tokens")
    loader.index_with(vocab)
    return loader, vocab


def build(params: dict[str, Any], vocab: Vocabulary, dtype: str) -> ElmoLanguageModel:
    bilm = make_bilm(
        params["bilm"]["options"], requires_grad=True, dropout=params["bilm"]["dropout"]
    )
    return ElmoLanguageModel(
        vocab, bilm, params.get("num_samples"), params["dropout"], dtype
    ).train()


def products_of(options: BiLmOptions, char_ids: torch.Tensor, num_classes: int) -> list[Product]:
    """Returns the products of a training step on char ids of shape (batch, length, 50)."""
    lengths = (char_ids > 0).any(dim=2).sum(dim=1)
    distinct = torch.unique(char_ids[char_ids.any(dim=2)], dim=0)
    characters = (distinct != PAD_CHARACTER).sum(dim=1)
    products = []
    for width, num_filters in options.filters:
        # All windows that begin after the token are the same.
        windows = characters.clamp(max=options.max_characters - width) + 1
        products.append(Product([int(windows.sum())], width * options.char_dim, num_filters))
    filters, cell, narrow = options.num_filters, options.cell_dim, options.projection_dim
    products += options.num_highway * [Product([len(distinct)], filters, 2 * filters)]
    products.append(Product([len(distinct)], filters, narrow))
    # The last token of a sentence is not read, only predicted.
    steps = Packing.of(lengths - 1).batch_sizes
    lstm = [
        Product([sum(steps)], narrow, 4 * cell),
        Product(steps, narrow, 4 * cell),
        Product(steps, cell, narrow),
    ]
    softmax = Product([sum(steps)], narrow, num_classes)
    return products + 2 * (options.num_layers * lstm + [softmax])


def prepare(
    products: list[Product], dtype: torch.dtype, device: str, multiply: Multiply
) -> Callable[[], None]:
    """Returns a function that does the products."""

    def matrix(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, dtype=dtype, device=device)

    sets = [
        (rows, matrix(sum(rows), inner), matrix(sum(rows), outer), matrix(outer, inner))
        for rows, inner, outer in products
    ]

    def run() -> None:
        for rows, inputs, outputs, weight in sets:
            for coming in inputs.split(rows):
                multiply(coming, weight)
            for coming in outputs.split(rows):
                multiply(coming, weight.t())
            # oneDNN is fast if the narrower matrix is the first.
            narrow, wide = sorted((inputs, outputs), key=lambda matrix: matrix.size(1))
            multiply(narrow.t(), wide.t())

    return run


def by_torch(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.mm(x, weight.t())


def by_onednn(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], "")


def time_of(turn: Callable[[], None], device: str) -> float:
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    by_cpu = device == "cpu" and torch.get_num_threads() == 1
    clock = time.process_time if by_cpu else time.perf_counter
    wait()
    start = clock()
    turn()
    wait()
    return clock() - start


if __name__ == "__main__":
    main()
