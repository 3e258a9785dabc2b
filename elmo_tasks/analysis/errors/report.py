from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy

from elmo_tasks.analysis.errors.case import Case, score_of, scores_of
from elmo_tasks.analysis.errors.compare_answers import Compared
from elmo_tasks.common.errors import ConfigurationError

_NUM_LENGTH_GROUPS = 4
_NUM_BINS = 10


def error_report(
    model: str,
    data: str,
    compared: Compared,
    num_mistakes: int = 10,
    other: str | None = None,
    other_cases: Sequence[Case] = (),
) -> dict[str, Any]:
    """
    Returns the errors of a model on a data set, as JSON.

    # Parameters

    model, data: The names of the model and of the data.
    num_mistakes (default `10`): The maximum number of mistakes to show.
    other, other_cases: The name of a second model, and its cases in the same order.
    """
    kind, metric, cases, classes = compared
    report: dict[str, Any] = {
        "model": model,
        "data": data,
        "kind": kind,
        "num_cases": len(cases),
        "metric": metric,
        "score": score_of(cases),
    }
    if kind == "classes":
        report["confusion"] = _confusion(cases, classes)
    if kind in ("entities", "labels", "roles", "tags"):
        report["types"] = _types(cases)
    bins = _calibration(cases)
    num_claims = sum(each["num_claims"] for each in bins)
    distances = [each["num_claims"] * abs(each["confidence"] - each["right"]) for each in bins]
    report |= {
        "by_length": _by_length(cases),
        # The expected calibration error of Guo et al. 2017, section 2.
        "calibration_error": sum(distances) / max(num_claims, 1),
        "calibration": bins,
        "mistakes": _mistakes(cases)[:num_mistakes],
    }
    if other is not None:
        report["against"] = {"model": other, **compare(cases, other_cases)}
    return report


def _confusion(cases: Sequence[Case], classes: Sequence[str | None]) -> dict[str, dict[str, int]]:
    """Returns how often each expected class was predicted as each class."""
    pairs = Counter((case.expected[0], case.predicted[0]) for case in cases)
    order = {name: index for index, name in enumerate(classes)}
    names = {name for pair in pairs for name in pair}
    ordered = sorted(names, key=lambda name: (order.get(name, len(order)), name))
    return {row: {column: pairs[row, column] for column in ordered} for row in ordered}


def _types(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Returns precision and recall for each type of entity, label, tag or role."""
    expected = Counter(type_ for case in cases for type_ in case.expected)
    predicted = Counter(type_ for case in cases for type_ in case.predicted)
    right = Counter(
        type_
        for case in cases
        for type_, claim in zip(case.predicted, case.claims)
        if claim.is_right
    )
    return [
        {
            "type": type_,
            "expected": expected[type_],
            "predicted": predicted[type_],
            "precision": right[type_] / max(predicted[type_], 1),
            "recall": right[type_] / max(expected[type_], 1),
        }
        for type_ in sorted(expected | predicted)
    ]


def _by_length(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Splits cases by length into four groups of about equal size. Returns the score of each."""
    lengths = [case.num_tokens for case in cases]
    ends = numpy.quantile(lengths, numpy.arange(1, _NUM_LENGTH_GROUPS + 1) / _NUM_LENGTH_GROUPS)
    edges = sorted({int(end) for end in ends})
    starts = [min(lengths), *(edge + 1 for edge in edges[:-1])]
    names = [f"{low}" if low == high else f"{low} to {high}" for low, high in zip(starts, edges)]
    members: list[list[Case]] = [[] for _ in edges]
    for case in cases:
        members[numpy.searchsorted(edges, case.num_tokens)].append(case)
    return [
        {"name": name, "num_cases": len(group), "score": score_of(group)}
        for name, group in zip(names, members)
        if group
    ]


def _calibration(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Groups the claims into ten intervals of confidence. Empty intervals are left out."""
    found: list[list] = [[] for _ in range(_NUM_BINS)]
    for case in cases:
        for claim in case.claims:
            found[min(int(claim.confidence * _NUM_BINS), _NUM_BINS - 1)].append(claim)
    return [
        {
            "low": index / _NUM_BINS,
            "high": (index + 1) / _NUM_BINS,
            "num_claims": len(claims),
            "confidence": sum(claim.confidence for claim in claims) / len(claims),
            "right": sum(claim.is_right for claim in claims) / len(claims),
        }
        for index, claims in enumerate(found)
        if claims
    ]


def _mistakes(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Returns the wrong claims, the most confident first."""
    wrong = [
        {
            "text": claim.text or case.text,
            "predicted": claim.predicted,
            "expected": claim.expected,
            "confidence": claim.confidence,
        }
        for case in cases
        for claim in case.claims
        if not claim.is_right
    ]
    return sorted(wrong, key=lambda each: -each["confidence"])


def compare(mine: Sequence[Case], others: Sequence[Case]) -> dict[str, Any]:
    """
    Returns how much better or worse one model is than another, and in how many cases. The cases
    have the same order. Raises `ConfigurationError` if their gold answers differ.
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
    # How often each case is drawn determines the sum of a resample.
    sums = [
        numpy.tensordot(drawn.multinomial(len(counts), even), counts, 1)
        for _ in range(num_resamples)
    ]
    differences = _differences(numpy.array(sums))
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
