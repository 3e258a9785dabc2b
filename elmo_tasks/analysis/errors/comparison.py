"""Compares the answers of two models to the same data."""

from collections.abc import Sequence
from typing import Any

import numpy

from elmo_tasks.analysis.errors.case import Case, score_of, scores_of
from elmo_tasks.common.errors import ConfigurationError

# The number of resamples whose weights are in memory at a time.
_CHUNK = 100


def compare(mine: Sequence[Case], others: Sequence[Case]) -> dict[str, Any]:
    """
    Returns how much better or worse one model is than another, and in how many cases. The cases
    have the same order. Raises `ConfigurationError` unless they have the same gold answers.
    """
    if [case.expected for case in mine] != [case.expected for case in others]:
        raise ConfigurationError(
            "the answers of the two models cannot be compared, because the models read the data in "
            f"different ways: {len(mine):,} and {len(others):,} cases, or different gold answers"
        )
    differences = [one.score - other.score for one, other in zip(mine, others)]
    num_better, num_worse = (sum(sign * each > 0 for each in differences) for sign in (1, -1))
    num_equal = len(differences) - num_better - num_worse
    return {
        "score": score_of(others),
        **paired_bootstrap(mine, others),
        "cases": {"better": num_better, "equal": num_equal, "worse": num_worse},
    }


def paired_bootstrap(
    first: Sequence[Case], second: Sequence[Case], num_resamples: int = 2000
) -> dict[str, float]:
    """
    Compares two models by the paired bootstrap (Efron and Tibshirani 1993; Berg-Kirkpatrick et al.
    2012). The same cases are drawn with replacement for both models.

    # Returns

    `difference`, the score of the first model minus that of the second; `low` and `high`, the ends
    of its 95 % interval; and `p_value`, the share of resamples whose difference deviates from
    `difference` by `|difference|` or more.
    """
    # Shape: (cases, 2 models, measures, 4)
    counts = numpy.array(
        [[each.counts for each in pair] for pair in zip(first, second, strict=True)]
    )
    observed = _differences(counts.sum(axis=0)[None])[0]
    drawn = numpy.random.default_rng(0)
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
    numbers = {"difference": observed, "low": low, "high": high, "p_value": p_value}
    return {name: float(number) for name, number in numbers.items()}


def _differences(sums: numpy.ndarray) -> numpy.ndarray:
    """Returns the differences of scores, given sums of shape (resamples, 2, measures, 4)."""
    scores = scores_of(sums)
    return scores[:, 0] - scores[:, 1]
