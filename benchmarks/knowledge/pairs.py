"""
How often the vectors of a word are nearer in two short sentences where it means the same than in
one of them and a third, where it means something else.
"""

from pathlib import Path

import torch

from benchmarks.harness import ROOT
from benchmarks.knowledge.layers import MEAN, Rows
from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.elmo import ElmoEncoder

FILE = ROOT / "fixtures" / "sense_pairs.tsv"
_PREFIX = "pairs of a sense: "


def measure(encoder: ElmoEncoder, data: Path) -> Rows:
    lines = [line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines()]
    row_parts = [
        separates(encoder, word, [text.split() for text in texts]) for word, *texts in lines
    ]
    *lstms, mean = (100 * torch.stack(row_parts).float().mean(0)).tolist()
    rows = {layer_name(index): share for index, share in enumerate(lstms, start=1)} | {MEAN: mean}
    return {_PREFIX + name: [share] for name, share in rows.items()}


def baselines(data: Path) -> Rows:
    return {f"{_PREFIX}by chance": [100 / 3]}


def separates(encoder: ElmoEncoder, word: str, sentences: list[list[str]]) -> torch.Tensor:
    """
    Returns whether the word's vectors in the first two of three sentences are nearer by the cosine
    than both other pairs: for each LSTM layer, then for the mean of all layers.
    """
    vectors = [
        layers[:, sentence.index(word)]
        for layers, sentence in zip(encoder.layers(sentences), sentences)
    ]
    first, second, other = (
        torch.cat([vector[1:], vector.mean(0, keepdim=True)]) for vector in vectors
    )
    same, *different = (
        torch.cosine_similarity(one, two, dim=1)
        for one, two in ((first, second), (first, other), (second, other))
    )
    return same > torch.stack(different).max(0).values
