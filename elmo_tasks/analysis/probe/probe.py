from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.common import Registrable

from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens


class ProbeRow(NamedTuple):
    """
    The accuracy on the validation data of a baseline, of a layer, or of the mix.

    # Parameters

    name : `str`
        The name of the baseline or the layer, or `mix`.
    accuracy : `float`
        The accuracy from 0 to 1.
    weights : `list[float]`, optional
        The weights s_j of equation (1), if this is the mix.
    """

    name: str
    accuracy: float
    weights: list[float] | None = None


class Probe(Registrable):
    """Predicts the tags of words from their vectors, to measure what a layer knows of the tags."""

    default_implementation = "linear"

    def rows(self, train: TaggedTokens, validation: TaggedTokens) -> Iterator[ProbeRow]:
        """
        Trains on the training data and evaluates on the validation data. Yields a row for each
        layer, from the layer of the tokens to the top layer, and then any other rows, such as a row
        for the mix.
        """
        raise NotImplementedError


def accuracy(predicted: Sequence[str], tags: Sequence[str]) -> float:
    """Returns the share of the tags that are predicted correctly, from 0 to 1."""
    return sum(map(str.__eq__, predicted, tags)) / len(tags)
