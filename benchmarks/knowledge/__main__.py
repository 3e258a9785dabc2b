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
pairs: how often a word is nearest in two of three short sentences where it means the same.
ner: F1 on 1,500 sentences of eng.testa of a small biLSTM, trained on 3,000, with two seeds.
glove: the share of GloVe's variance that a linear map of the token layer explains, ten-fold.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.harness import Kept, mean_cell, parser, report
from benchmarks.knowledge import classify, glove, ner, pairs, pos, senses
from benchmarks.knowledge.layers import Rows
from elmo_tasks.elmo import ElmoEncoder

PARTS = {"classify": classify, "pos": pos, "senses": senses, "pairs": pairs, "ner": ner}
PARTS["glove"] = glove
BASELINE = "without a biLM"


def main() -> None:
    options = parser("knowledge", __doc__)
    add = options.add_argument
    add("bilms", nargs="+", metavar="NAME_OR_FOLDER", help="biLMs, each a column of the table")
    add("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts (default: all)")
    add("--data", type=Path, default=Path("data"), help="folder of the data (default: data)")
    add("--results", type=Path, default=Path("knowledge.json"), help="default: knowledge.json")
    arguments = options.parse_args()
    results = Kept(arguments.results)
    encoders = {name: ElmoEncoder.from_pretrained(name) for name in arguments.bilms}
    table = []
    for name, part in PARTS.items():
        if name not in arguments.only:
            continue
        works = {BASELINE: partial(part.baselines, arguments.data)}
        for bilm, encoder in encoders.items():
            key = f"{bilm} {encoder.bilm.fingerprint().hex()}"
            works[key] = partial(part.measure, encoder, arguments.data)
        columns = [
            results.get(key, name, measure=partial(with_seconds, name, rows))
            for key, rows in works.items()
        ]
        names = dict.fromkeys(row for rows in columns for row in rows)
        table += [[row, *(mean_cell(rows.get(row, [])) for rows in columns)] for row in names]
    report(["", BASELINE, *encoders], table, "percent")


def with_seconds(part: str, rows: Callable[[], Rows]) -> Rows:
    """Measures a part, and the CPU time that it takes."""
    start = time.process_time()
    measured = rows()
    return {**measured, f"{part}, CPU seconds": [time.process_time() - start]}


if __name__ == "__main__":
    main()
