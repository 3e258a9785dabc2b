from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.common import Registrable

from elmo_tasks.analysis.probe.most_frequent import MostFrequent
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens


class ProbeRow(NamedTuple):
    """
    The accuracy of a baseline, a layer or the mix on the validation data.

    # Parameters

    name: The name of the baseline or the layer, or `mix`.
    accuracy: The accuracy from 0 to 1.
    weights: The weights s_j of equation (1), if this is the mix.
    """

    name: str
    accuracy: float
    weights: list[float] | None = None


class Probe(Registrable):
    """
    Predicts the tags of words from their vectors, to measure what a layer knows about the tags.
    """

    default_implementation = "linear"

    def rows(
        self, train: TaggedTokens, validation: TaggedTokens, most_frequent: MostFrequent
    ) -> Iterator[ProbeRow]:
        """
        Trains on the training data and evaluates on the validation data. Yields a row for each
        layer, from the layer of the tokens to the top layer, and then any other rows, such as a row
        for the mix. `most_frequent` has the tags for words that the training data lacks.
        """
        raise NotImplementedError


def accuracy(predicted: Sequence[str], tags: Sequence[tuple[str, ...]]) -> float:
    """Returns the share of the tokens whose predicted tag is a gold tag, from 0 to 1."""
    return sum(tag in gold for tag, gold in zip(predicted, tags, strict=True)) / len(tags)
