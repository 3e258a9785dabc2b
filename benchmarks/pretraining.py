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

from collections.abc import Callable
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

import torch
from allennlp.data import Vocabulary

from benchmarks.harness import TEXT, alternate, parser, report
from benchmarks.task_steps import config_of, training
from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.common.characters import PAD_CHARACTER
from elmo_tasks.kernels.frozen_product import has_onednn
from elmo_tasks.kernels.packing import Packing
from elmo_tasks.language_model.loaders import SentenceLoader
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.readers.sentences import SentencesReader

# Multiplies x, shape (rows, inner), by a weight, shape (outer, inner).
Multiply = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

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


def main() -> None:
    options = parser("pretraining", __doc__, turns=5, threads=True)
    add = options.add_argument
    add("text", nargs="?", default=TEXT, type=Path, help="one tokenized sentence a line")
    add("--sizes", nargs="+", default=["mini", "small"], help="of training_configs/bilm")
    add("--dtypes", nargs="+", default=list(DTYPES), choices=DTYPES, help="default: both")
    add("--words", type=int, default=50_000, help="words of the softmax (default: 50000)")
    add("--batches", type=int, default=4, help="batches in a turn (default: 4)")
    add("--batch-tokens", type=int, help="tokens of a batch (default: those of the config)")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    rows, times = [], []
    for size in arguments.sizes:
        for dtype in arguments.dtypes:
            num_tokens, *times_of_ours = measure(size, dtype, arguments)
            seconds = [
                duration.cpu if arguments.threads == 1 else duration.wall
                for duration in times_of_ours
            ]
            speed, products = num_tokens / seconds[0], num_tokens / min(seconds[1:])
            cells = [f"{speed:,.0f}", f"{products:,.0f}", f"{speed / products:.0%}"]
            rows.append([size, dtype, *cells])
            times += times_of_ours
    report(
        ["biLM", "products in", "tokens/s, training", "tokens/s, bare products", "ratio"],
        rows,
        f"{arguments.text.name}, {arguments.words:,} words",
        f"medians of {arguments.turns} turns of {arguments.batches} batches",
        times=times,
    )


def measure(size: str, dtype: str, arguments: Any) -> tuple[Any, ...]:
    """Returns the tokens of a turn, and the time of the training and of each kind of products."""
    config = config_of("bilm", size)
    batch_tokens = arguments.batch_tokens or config["data_loader"].get("batch_tokens", 2560)
    loader, vocab = indexed_loader(arguments.text, arguments.words, batch_tokens)
    batches = list(islice(chain.from_iterable(repeat(loader)), arguments.batches))
    torch.manual_seed(0)
    model = build(config["model"], vocab, dtype)
    num_classes = model.softmax.num_samples or model.softmax.num_classes
    char_ids = [batch["tokens"]["elmo"]["elmo_tokens"] for batch in batches]
    products = [
        product for ids in char_ids for product in products_of(model.bilm.options, ids, num_classes)
    ]
    # The bare products are the faster of PyTorch's and oneDNN's, if it has them for this CPU.
    multiplications = [by_torch, by_onednn] if has_onednn(DTYPES[dtype]) else [by_torch]
    works = {"training": training(model, config["trainer"], batches)}
    for multiply in multiplications:
        works[multiply.__name__] = prepare(products, DTYPES[dtype], multiply)
    times = alternate(works, arguments.turns).values()
    # Each direction reads every token of a sentence except the last one.
    return sum(int((ids > 0).any(dim=2).sum()) - len(ids) for ids in char_ids), *times


def indexed_loader(
    text: Path, num_words: int, batch_tokens: int, kind: type[Vocabulary] = Vocabulary
) -> tuple[SentenceLoader, Vocabulary]:
    """
    Returns a loader of a text, and a vocabulary of so many words, the text's own words first and
    made-up ones after them.
    """
    loader = SentenceLoader(SentencesReader(max_instances=50_000), str(text), batch_tokens)
    vocab = kind.from_instances(loader.iter_instances(), max_vocab_size={"tokens": num_words - 1})
    for index in range(num_words + 1 - vocab.get_vocab_size("tokens")):
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


def prepare(products: list[Product], dtype: torch.dtype, multiply: Multiply) -> Callable[[], None]:
    """Returns a function that does the products."""

    def matrix(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, dtype=dtype)

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


if __name__ == "__main__":
    main()
