from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from elmo_tasks.analysis.errors.case import Case, scores_of

# Number of resamples whose weights are in memory at a time.
_CHUNK = 100


class Difference(NamedTuple):
    """
    The difference between the scores of two models on the same data.

    # Parameters

    difference: The score of the first model minus that of the second.
    low, high: The ends of its 95 % interval.
    p_value: The probability of a difference at least as large, in either direction, if the models
        were equally good.
    """

    difference: float
    low: float
    high: float
    p_value: float

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()


def paired_bootstrap(
    first: Sequence[Case], second: Sequence[Case], num_resamples: int = 2000, seed: int = 0
) -> Difference:
    """
    Compares two models by the paired bootstrap (Efron and Tibshirani 1993; Berg-Kirkpatrick et al.
    2012). The same cases are drawn with replacement for both models. Let d be the observed
    difference. The p-value is the share of resamples whose difference is `|d|` or more away from d.

    # Parameters

    first, second: The cases of both models, in the same order.
    num_resamples (default `2000`)
    seed (default `0`)
    """
    # Shape: (cases, 2 models, measures, 4)
    counts = numpy.array(
        [[each.counts for each in pair] for pair in zip(first, second, strict=True)]
    )
    observed = _differences(counts.sum(axis=0)[None])[0]
    drawn = numpy.random.default_rng(seed)
    even = numpy.full(len(counts), 1 / len(counts))
    found = []
    for start in range(0, num_resamples, _CHUNK):
        # How often each case is drawn. Shape: (resamples, cases)
        weights = drawn.multinomial(len(counts), even, min(_CHUNK, num_resamples - start))
        found.append(_differences(numpy.tensordot(weights, counts, 1)))
    differences = numpy.concatenate(found)
    low, high = numpy.quantile(differences, [0.025, 0.975])
    # Rounding may make equal differences unequal. The margin makes them count as equal.
    is_far = numpy.abs(differences - observed) >= abs(observed) - 1e-12
    p_value = (1 + is_far.sum()) / (1 + num_resamples)
    return Difference(float(observed), float(low), float(high), float(p_value))


def _differences(sums: numpy.ndarray) -> numpy.ndarray:
    """Returns the differences of scores, given sums of shape (resamples, 2, measures, 4)."""
    scores = scores_of(sums)
    return scores[:, 0] - scores[:, 1]
