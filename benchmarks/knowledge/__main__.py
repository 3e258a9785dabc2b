"""
Measures what biLMs know, for a choice between them. Prints a table in Markdown.

    python -m benchmarks.knowledge base runs/bilm
    python -m benchmarks.knowledge base --only classify pos

A biLM is a name, a folder, or anything else that `ElmoEncoder.from_pretrained` opens. What was
measured is kept in a JSON file, by the weights of the biLM, and not measured again.

classify: accuracy of a logistic regression on mean vectors, trained on five draws of 100, 500 and
    2,000 film reviews, customer reviews, questions (TREC) and whole film reviews, on texts that no
    draw has; alone, beside TF-IDF, and with the mean of both probabilities. Vectors are
    standardized. The mean of the first three kinds decides between biLMs.
pos: accuracy on EWT's dev part of a ridge regression of the tags of the Penn Treebank.
senses: accuracy on SemEval-2007 of the nearest mean of a sense in SemCor, with back-off.
ner: F1 on 1,500 sentences of eng.testa of a small biLSTM, trained on 3,000, with two seeds.
glove: the share of GloVe's variance that a linear map of the token layer explains, ten-fold.
perplexity: of an archive of a language model, on 500 held-out lines of each kind of text.
"""

import argparse
import shlex
import sys
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.knowledge import classify, glove, ner, perplexity, pos, senses
from benchmarks.knowledge.results import BASELINE, Results, Rows
from benchmarks.machine import machine
from elmo_tasks.archives.known_models import is_model
from elmo_tasks.elmo import ElmoEncoder


class Part(NamedTuple):
    """
    # Parameters

    measure: Measures a biLM on the data in a folder.
    baselines: Measures what stands beside it.
    """

    measure: Callable[[ElmoEncoder, Path], Rows]
    baselines: Callable[[Path], Rows]


PARTS = {
    "classify": Part(classify.measure, classify.baselines),
    "pos": Part(pos.measure, pos.baselines),
    "senses": Part(senses.measure, senses.baselines),
    "ner": Part(ner.measure, ner.baselines),
    "glove": Part(glove.measure, lambda data: {}),
}
# The part that needs a language model.
PERPLEXITY = "perplexity"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.knowledge",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("bilms", nargs="+", metavar="NAME_OR_FOLDER", help="biLMs, each a column of the table")
    parts = [*PARTS, PERPLEXITY]
    add("--only", nargs="+", choices=parts, default=parts, help="parts (default: all)")
    add("--data", type=Path, default=Path("data"), help="folder of the data (default: data)")
    add("--results", type=Path, default=Path("knowledge.json"), help="default: knowledge.json")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    keys = {BASELINE: BASELINE}
    chosen = [part for part in PARTS if part in arguments.only]
    for part in chosen:
        measure(results, BASELINE, part, partial(PARTS[part].baselines, arguments.data))
    for name in arguments.bilms:
        encoder = ElmoEncoder.from_pretrained(name)
        keys[name] = f"{name} {encoder.bilm.fingerprint().hex()}"
        for part in chosen:
            rows = partial(PARTS[part].measure, encoder, arguments.data)
            measure(results, keys[name], part, rows)
        if PERPLEXITY in arguments.only and is_model(name):
            measure(
                results, keys[name], PERPLEXITY, partial(perplexity.measure, name, arguments.data)
            )
    command = shlex.join(["python", "-m", "benchmarks.knowledge", *sys.argv[1:]])
    print(
        f"{date.today()}, `{command}`, {machine()}, {torch.get_num_threads()} thread(s), percent\n"
    )
    print(results.table(keys, arguments.only))


def measure(results: Results, key: str, part: str, rows: Callable[[], Rows]) -> None:
    """Measures a part, unless the results have it, with the CPU time that it takes."""
    if results.has(key, part):
        return
    print(f"{key}: {part} ...", file=sys.stderr, flush=True)
    start = time.process_time()
    measured = rows()
    seconds = time.process_time() - start
    results.add(key, part, {**measured, f"{part}, CPU seconds": [seconds]})


if __name__ == "__main__":
    main()
