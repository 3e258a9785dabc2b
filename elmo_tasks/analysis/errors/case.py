from collections.abc import Sequence
from typing import NamedTuple

import numpy

# For each measure of a score: the numerator and denominator of the precision, then of the recall.
Counts = Sequence[Sequence[float]]


class Claim(NamedTuple):
    """
    A model's statement, which is right or wrong: a class, an entity, an answer, a semantic role or
    a link between two mentions. `confidence` is the probability that the model gives it. `text` is
    shown beside the claim. If `text` is empty, the text of the case is shown.
    """

    predicted: str
    expected: str
    confidence: float
    is_right: bool
    text: str = ""


class Case(NamedTuple):
    """
    An instance of a data set with a model's answer to it.

    The score of several cases is the mean F1 of all measures, from the sums of their `counts`.

    # Parameters

    counts: The counts of the score. For a class or an answer, precision and recall are equal.
    claims: One claim, or one for each predicted entity, role or link.
    expected: The expected class, the types of the expected entities or roles, the gold answers, or
        the expected links.
    predicted: The predicted class, the types of the predicted entities or roles, the answer, or the
        predicted links.
    line, id: The line number and the id of the case in its file.
    """

    text: str
    counts: Counts
    claims: list[Claim]
    expected: list[str]
    predicted: list[str]
    num_tokens: int = 0
    line: int | None = None
    id: str | int | None = None

    @property
    def score(self) -> float:
        """The score of this case alone."""
        return float(scores_of(numpy.array(self.counts)))


def scores_of(counts: numpy.ndarray) -> numpy.ndarray:
    """
    Returns the mean F1 of all measures, shape (...), given counts of shape (..., measures, 4). F1
    is 1 if nothing is expected and nothing is predicted.
    """
    correct, predicted, num_predicted, expected = numpy.moveaxis(counts, -1, 0)
    precision, recall = _ratios(correct, predicted), _ratios(num_predicted, expected)
    f1 = _ratios(2 * precision * recall, precision + recall)
    return numpy.where(predicted + expected > 0, f1, 1.0).mean(axis=-1)


def _ratios(parts: numpy.ndarray, wholes: numpy.ndarray) -> numpy.ndarray:
    return parts / numpy.where(wholes > 0, wholes, 1.0)


def score_of(cases: Sequence[Case]) -> float:
    return float(scores_of(numpy.sum([case.counts for case in cases], axis=0)))
