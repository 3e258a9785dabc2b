"""
Counts how often a biLM gives a word nearer vectors in two short sentences where it means the same
than in one of them and a third, where it means something else. Prints a table in Markdown.

    python -m benchmarks.sense_pairs mini base
"""

from pathlib import Path
from typing import NamedTuple

import torch

from benchmarks.harness import ROOT, parser, report
from elmo_tasks import ElmoEncoder

FILE = ROOT / "fixtures" / "sense_pairs.tsv"


class Triple(NamedTuple):
    """A word in three tokenized sentences; in the first two it means the same."""

    word: str
    sentences: tuple[list[str], list[str], list[str]]


def read_triples(path: Path = FILE) -> list[Triple]:
    triples = []
    for line in path.read_text(encoding="utf-8").splitlines():
        word, first, second, other = line.split("\t")
        triples.append(Triple(word, (first.split(), second.split(), other.split())))
    return triples


def separated(encoder: ElmoEncoder, triple: Triple) -> torch.Tensor:
    """
    Returns whether the pair of the same meaning is nearer by the cosine than both other pairs: for
    each LSTM layer, then for the mean of all layers.
    """
    word, sentences = triple
    vectors = [
        layers[:, sentence.index(word)]
        for layers, sentence in zip(encoder.layers(sentences), sentences)
    ]
    first, second, other = (torch.cat([each[1:], each.mean(0, keepdim=True)]) for each in vectors)
    same, *different = (
        torch.cosine_similarity(one, two, dim=1)
        for one, two in ((first, second), (first, other), (second, other))
    )
    return same > torch.stack(different).max(0).values


def main() -> None:
    made = parser("sense_pairs", __doc__)
    made.add_argument("bilms", nargs="+", help="names or folders of biLMs")
    triples, rows = read_triples(), []
    for name in made.parse_args().bilms:
        encoder = ElmoEncoder.from_pretrained(name)
        found = torch.stack([separated(encoder, triple) for triple in triples])
        missed = [triple.word for triple, right in zip(triples, found[:, -1]) if not right]
        rows.append([name, *found.sum(0).tolist(), ", ".join(missed)])
    lstms = [f"LSTM {layer + 1}" for layer in range(found.size(1) - 1)]
    report(["biLM", *lstms, "mean of the layers", "not separated by the mean"], rows)


if __name__ == "__main__":
    main()
