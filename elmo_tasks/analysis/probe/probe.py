from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.common import Registrable

from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens


class ProbeRow(NamedTuple):
    """
    How well the tags of the validation data are told.

    # Parameters

    name : `str`
        By what: a baseline, a layer, or the mix.
    accuracy : `float`
        From 0 to 1.
    weights : `list[float]`, optional
        Of the mix: s_j of equation (1).
    """

    name: str
    accuracy: float
    weights: list[float] | None = None


class Probe(Registrable):
    """What tells the tags of words from their vectors, to see what a layer knows of them."""

    default_implementation = "linear"

    def rows(self, train: TaggedTokens, validation: TaggedTokens) -> Iterator[ProbeRow]:
        """One for each layer, from that of the tokens to the top, and then others."""
        raise NotImplementedError


def accuracy(predicted: Sequence[str], tags: Sequence[str]) -> float:
    return sum(map(str.__eq__, predicted, tags)) / len(tags)
