from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import torch

from elmo_tasks.analysis.neighbors.occurrences import Corpus, Occurrence
from elmo_tasks.analysis.neighbors.vectors import Group, mean_cosine

# A heading, and the occurrences below it with their cosines.
Section = tuple[str, list[tuple[float, Occurrence]]]


class NeighborsReport(NamedTuple):
    """
    The occurrences of a word, clustered or ranked by their vectors in one layer.

    # Parameters

    layer: The name of the layer of the vectors.
    bilm: The name of the biLM.
    text: The path of the text.
    vectors: Shape (occurrences, dim); each vector has length 1.
    groups: The clusters, or one group of all occurrences if they are ranked.
    similar: The nearest words in layer 0, with their cosines.
    wanted: The occurrence to which the others are compared, and its vector.
    similar_in_file: The nearest words in a file of word vectors, if one was given.
    """

    word: str
    layer: str
    bilm: str
    text: str
    corpus: Corpus
    vectors: torch.Tensor
    groups: list[Group]
    similar: list[tuple[str, float]]
    wanted: tuple[Occurrence, torch.Tensor] | None = None
    similar_in_file: list[tuple[str, float]] | None = None

    def title(self) -> str:
        shown, found = len(self.corpus.occurrences), self.corpus.num_occurrences
        part = f"{found:,}" if shown == found else f"{shown:,} of {found:,}"
        return f"{part} occurrences of {self.word}, compared in layer {self.layer} of {self.bilm}"

    def sections(self, max_lines: int) -> list[Section]:
        """
        Returns a section for each cluster. If the occurrences are ranked, returns a section of the
        nearest occurrences and, if any are left, a section of the furthest.
        """
        if self.wanted is None:
            return [
                (
                    f"Cluster {k}, {len(group.members):,} occurrences, the most typical first",
                    self._lines(group)[:max_lines],
                )
                for k, group in enumerate(self.groups, start=1)
            ]
        lines = self._lines(self.groups[0])
        furthest = lines[max(max_lines, len(lines) - max_lines) :]
        nearest = ("The nearest", lines[:max_lines])
        return [nearest, ("The furthest", furthest)] if furthest else [nearest]

    def without_context(self) -> str:
        return f"Nearest words in layer 0, which ignores the context: {_listed(self.similar)}"

    def separation(self) -> list[dict[str, Any]]:
        """Returns the mean cosine within each cluster and between each pair of clusters."""
        pairs = combinations_with_replacement(enumerate(self.groups, start=1), 2)
        return [
            {"clusters": [i, j], "mean_cosine": mean_cosine(self.vectors, first, second)}
            for (i, first), (j, second) in pairs
        ]

    def text_of(self, max_lines: int) -> str:
        """Returns the report as text, with at most `max_lines` occurrences in each section."""
        corpus = self.corpus
        lines = [f"{self.title()}; {corpus.num_sentences:,} sentences of {self.text}"]
        if self.wanted is not None:
            lines += ["", f"Compared with: {' '.join(self.wanted[0].words)}"]
        for heading, shown in self.sections(max_lines):
            lines += ["", f"{heading}:"]
            lines += [f"{cosine:6.3f} {found.line()}" for cosine, found in shown]
        lines.append("")
        if len(self.groups) > 1:
            cosines = [
                f"{pair['mean_cosine']:.3f} {'within' if i == j else 'between'} "
                f"{i if i == j else f'{i} and {j}'}"
                for pair in self.separation()
                for i, j in [pair["clusters"]]
            ]
            lines.append(f"Mean cosines of two occurrences: {', '.join(cosines)}.")
        lines.append(f"{self.without_context()}.")
        if self.similar_in_file is not None:
            lines.append(f"Nearest words in the word vectors: {_listed(self.similar_in_file)}.")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        return {
            "word": self.word,
            "layer": self.layer,
            "bilm": self.bilm,
            "text": self.text,
            "num_sentences": self.corpus.num_sentences,
            "num_occurrences": self.corpus.num_occurrences,
            "beside": None if self.wanted is None else self.wanted[0].as_dict(),
            "groups": [
                [{"cosine": cosine, **found.as_dict()} for cosine, found in self._lines(group)]
                for group in self.groups
            ],
            "mean_cosines": self.separation(),
            "nearest_words_of_layer_0": _as_dicts(self.similar),
            "nearest_words_of_file": _as_dicts(self.similar_in_file or []),
        }

    def _lines(self, group: Group) -> list[tuple[float, Occurrence]]:
        return [
            (cosine, self.corpus.occurrences[member])
            for member, cosine in zip(group.members, group.cosines)
        ]


def _listed(similar: list[tuple[str, float]]) -> str:
    return ", ".join(f"{word} {cosine:.2f}" for word, cosine in similar) or "none"


def _as_dicts(similar: list[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"word": word, "cosine": cosine} for word, cosine in similar]
