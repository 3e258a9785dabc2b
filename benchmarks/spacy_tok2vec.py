"""
Compares what a component of spaCy learns from x_k alone, which is spaCy's own, and from [x_k;
ELMo_k] of the architecture `elmo_tasks.Tok2Vec.v1`. All else is as in
training_configs/spacy/tagger_ner.cfg. Prints a table in Markdown. What was measured is kept in a
JSON file, so that the same command goes on after a kill.

    python -m benchmarks.spacy_tok2vec
    python -m benchmarks.spacy_tok2vec --component tagger --sentences 100 --steps 200 --seeds 1 2 3

A seed draws the sentences of the training, each of which is a doc, and begins the training. The
score is the best one of five on sentences of the development part. Seconds are CPU time.
"""

import argparse
import io
import json
import random
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Config

from benchmarks.harness import ROOT, Kept, mean_cell, parser, report
from elmo_tasks.common.records import read_records
from elmo_tasks.readers.entities import read_entities, write_tags

_CONFIG = ROOT / "training_configs" / "spacy" / "tagger_ner.cfg"
_SCORES = {"ner": ("ents_f", "F1 of entities"), "tagger": ("tag_acc", "accuracy of tags")}
_TEST_SENTENCES = 1000
EMBEDDINGS = ("x_k", "[x_k; ELMo_k]")


def main() -> None:
    options = parser("spacy_tok2vec", __doc__)
    add = options.add_argument
    add("--component", choices=_SCORES, default="ner", help="default: ner")
    add("--sentences", default="500", metavar="N", help="of the training, or all (default: 500)")
    add("--steps", type=int, default=500, help="default: 500")
    add("--seeds", type=int, nargs="+", default=[1], help="default: 1")
    add("--bilm", default="base", help="default: base")
    add("--data", type=Path, default=Path("data/conll2003"), help="default: data/conll2003")
    add("--results", type=Path, default=Path("spacy_tok2vec.json"), help="the JSON file")
    args = options.parse_args()
    results, rows = Kept(args.results), []
    for embedding in EMBEDDINGS:
        results_of_config = [
            results.get(
                f"{args.component}|{args.sentences}|{args.steps}|{seed}|{embedding}|{args.bilm}",
                measure=partial(measure, args, seed, embedding),
            )
            for seed in args.seeds
        ]
        seconds = statistics.mean(result["seconds"] for result in results_of_config)
        scores = mean_cell([100 * result["score"] for result in results_of_config])
        rows.append([embedding, scores, f"{seconds:.0f}"])
    report(["embedding", _SCORES[args.component][1], "CPU s"], rows)


def measure(args: argparse.Namespace, seed: int, embedding: str) -> dict[str, float]:
    """Trains a component and returns its best score and the seconds of the training."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = None if args.sentences == "all" else int(args.sentences)
        _write_docs(args.data / "eng.train", size, seed, folder / "train.spacy")
        _write_docs(args.data / "eng.testa", _TEST_SENTENCES, 1, folder / "dev.spacy")
        nlp = init_nlp(config(args, seed, embedding, folder))
        start = time.process_time()
        train(nlp, folder, stdout=io.StringIO(), stderr=io.StringIO())
        seconds = time.process_time() - start
        best = json.loads((folder / "model-best" / "meta.json").read_text())
    return {"score": best["performance"][_SCORES[args.component][0]], "seconds": seconds}


def config(args: argparse.Namespace, seed: int, embedding: str, folder: Path) -> Config:
    """Returns the shipped config with one component, which reads one of `EMBEDDINGS`."""
    settings = Config().from_disk(_CONFIG, interpolate=False)
    settings["paths"] = {
        "train": f"{folder}/train.spacy",
        "dev": f"{folder}/dev.spacy",
        "store": None,
    }
    settings["system"]["seed"] = seed
    settings["nlp"]["pipeline"] = ["tok2vec", args.component]
    parts = settings["components"]
    settings["components"] = {name: parts[name] for name in ("tok2vec", args.component)}
    model: dict[str, Any] = parts["tok2vec"]["model"]
    if embedding == "x_k":
        model["embed"] = model["embed"]["words"]
    else:
        model["embed"]["bilm"] = args.bilm
    training = settings["training"]
    training["annotating_components"] = []
    training["max_steps"], training["eval_frequency"] = args.steps, max(1, args.steps // 5)
    training["batcher"]["size"] = 500
    training["score_weights"] = {_SCORES[args.component][0]: 1.0}
    return settings.interpolate()


def _write_docs(path: Path, size: int | None, seed: int, to: Path) -> None:
    """Writes so many sentences, drawn by chance, or all; each is a doc."""
    names = ["word", "pos", "chunk", "ner"]
    sentences = [
        [record.values[name] for name in ("word", "pos", "ner")]
        for record in read_records(path, "columns", names)
    ]
    if size is not None:
        sentences = random.Random(seed).sample(sentences, min(size, len(sentences)))
    vocab = spacy.blank("en").vocab
    docs = DocBin()
    for words, tags, ner in sentences:
        bio = write_tags(read_entities(ner), len(words), "BIO")
        docs.add(Doc(vocab, words=words, tags=tags, ents=bio))
    docs.to_disk(to)


if __name__ == "__main__":
    main()
