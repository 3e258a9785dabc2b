"""
Measures the speed of scoring a text on one thread, and its share of the bare product: tokens per
second of CPU time, the best of some turns. Prints a table in Markdown.

    python -m benchmarks.scoring my/text.txt --bilm base --words 50000

The softmax has random weights, on which the speed does not depend.
"""

import argparse
import time
from collections.abc import Callable
from datetime import date
from itertools import islice

import torch

from benchmarks.machine import machine
from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.bilm.files.known_bilms import bilm_files
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.kernels.blocked_product import BlockedProduct
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.scoring.reader import Reader
from elmo_tasks.language_model.softmax import Softmax


def seconds_of(work: Callable[[], object], turns: int) -> float:
    """Returns the least seconds of CPU time that the work takes."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("text", help="one tokenized sentence a line; plain, .gz or .xz")
    add("--bilm", default="base", help="a biLM (default: base)")
    add("--words", type=int, default=50_000, help="words of the softmax (default: 50000)")
    add("--lines", type=int, default=1000, help="lines of the text (default: 1000)")
    add("--turns", type=int, default=3, help="turns of each (default: 3)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sentences = [line.split() for line in islice(read_lines(args.text), args.lines)]
    sentences = [sentence for sentence in sentences if sentence]
    num_tokens = sum(map(len, sentences))
    bilm = make_bilm(*bilm_files(args.bilm)).eval()
    dim = bilm.options.projection_dim
    words = [f"word{index}" for index in range(args.words)]
    softmax = Softmax(words, torch.randn(args.words, dim) / 8, torch.zeros(args.words))
    packed = softmax.in_8_bits()
    model = LanguageModel(bilm, packed)
    reader = Reader(FrozenBiLm.of(bilm))
    # Both directions of each token and of each sentence's end.
    h = torch.randn(2 * (num_tokens + len(sentences)), dim)
    product = BlockedProduct(packed.weight, packed.bias, packed.scale)
    blocks = sorted(sentences, key=len)
    rows = {
        "matrix products alone": lambda: [p(x) for x in h.split(512) for p in product._products],
        "products with log-sum-exp": lambda: product.log_sums(h),
        "biLM alone, 64 sentences a batch": lambda: [
            reader.read(blocks[start : start + 64]) for start in range(0, len(blocks), 64)
        ],
        "scoring": lambda: model.score(sentences),
    }
    print(
        f"{args.bilm}, {args.words:,} words, {num_tokens:,} tokens, one thread; {date.today()}, "
        f"{machine()}\n\n| what | tokens a second | share of the products |\n| --- | --- | --- |"
    )
    bare = None
    for name, work in rows.items():
        seconds = seconds_of(work, args.turns)
        bare = bare or seconds
        print(f"| {name} | {num_tokens / seconds:,.0f} | {bare / seconds:.2f} |")


if __name__ == "__main__":
    main()
