from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy

from elmo_tasks.analysis.errors.case import Case, score_of, scores_of
from elmo_tasks.analysis.errors.compare_answers import Compared
from elmo_tasks.common.errors import ConfigurationError

_NUM_LENGTH_GROUPS = 4
_NUM_BINS = 10

# The place of a case in the file, and the columns of the scores by type.
_PLACES = ("line", "id")
# The columns of a table of mistakes.
MISTAKES = (*_PLACES, "text", "predicted", "expected", "confidence")
_COLUMNS = ("type", "expected", "predicted", "precision", "recall", "f1")


def error_report(
    model: str,
    data: str,
    answers: Compared,
    num_mistakes: int = 10,
    other: str | None = None,
    other_cases: Sequence[Case] = (),
) -> dict[str, Any]:
    """
    Returns the errors of a model on a data set, as JSON.

    # Parameters

    model, data: The names of the model and of the data.
    num_mistakes: The maximum number of mistakes to show.
    other, other_cases: The name of a second model, and its cases in the same order.
    """
    kind, metric, cases, classes = answers
    report: dict[str, Any] = {
        "model": model,
        "data": data,
        "kind": kind,
        "num_cases": len(cases),
        "metric": metric,
        "score": score_of(cases),
    }
    if kind == "classes":
        report |= _confusion(cases, classes)
    if kind in ("labels", "tags"):
        report |= _by_type(*_label_sets(cases, kind))
    if kind in ("entities", "roles"):
        report["types"] = _types(cases)
    bins = _calibration(cases)
    num_claims = sum(row["num_claims"] for row in bins)
    distances = [row["num_claims"] * abs(row["confidence"] - row["right"]) for row in bins]
    report |= {
        "by_length": _by_length(cases),
        # The expected calibration error of Guo et al. 2017, section 2.
        "calibration_error": sum(distances) / max(num_claims, 1),
        "calibration": bins,
        "mistakes": mistakes_of(cases)[:num_mistakes],
    }
    if other is not None:
        report["against"] = {"model": other, **compare(cases, other_cases)}
    return report


def _confusion(cases: Sequence[Case], classes: Sequence[str | None]) -> dict[str, Any]:
    """
    Returns how often each expected class was predicted as each class, and the fields of `_by_type`.
    """
    expected, predicted = ([pair[0] for pair in _names(cases, which)] for which in (0, 1))
    order = {name: index for index, name in enumerate(classes)}
    names = sorted({*expected, *predicted}, key=lambda name: (order.get(name, len(order)), name))
    counts = Counter(zip(expected, predicted))
    confusion = {row: {column: counts[row, column] for column in names} for row in names}
    return {"confusion": confusion, **_by_type(expected, predicted, names)}


def _names(cases: Sequence[Case], which: int) -> list[list[str]]:
    return [case.predicted if which else case.expected for case in cases]


def _label_sets(cases: Sequence[Case], kind: str) -> tuple[Any, Any, list[str]]:
    """Returns the expected and the predicted labels in scikit-learn's form, and their names."""
    from sklearn.preprocessing import MultiLabelBinarizer

    expected, predicted = _names(cases, 0), _names(cases, 1)
    names = sorted(set(chain.from_iterable([*expected, *predicted])))
    if kind == "tags":
        return list(chain.from_iterable(expected)), list(chain.from_iterable(predicted)), names
    sets = MultiLabelBinarizer(classes=names)
    return sets.fit_transform(expected), sets.fit_transform(predicted), names


def _by_type(expected: Any, predicted: Any, names: list[str]) -> dict[str, Any]:
    """Returns `types`, the scores of each class, label or tag, and `macro`, their means."""
    from sklearn.metrics import precision_recall_fscore_support as scores

    labels = names if isinstance(expected, list) else None
    *ratios, support = scores(expected, predicted, labels=labels, zero_division=0)
    num_predicted = scores(predicted, expected, labels=labels, zero_division=0)[3]
    columns = (
        names,
        support.tolist(),
        num_predicted.tolist(),
        *(ratio.tolist() for ratio in ratios),
    )
    macro = scores(expected, predicted, labels=labels, average="macro", zero_division=0)
    return {
        "types": [dict(zip(_COLUMNS, row)) for row in zip(*columns)],
        "macro": dict(zip(_COLUMNS[3:], map(float, macro[:3]))),
    }


def _types(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Returns precision, recall and F1 for each type of entity or role."""
    expected = Counter(type_ for case in cases for type_ in case.expected)
    predicted = Counter(type_ for case in cases for type_ in case.predicted)
    right = Counter(
        type_
        for case in cases
        for type_, claim in zip(case.predicted, case.claims)
        if claim.is_right
    )
    rows = []
    for type_ in sorted(expected | predicted):
        precision = right[type_] / max(predicted[type_], 1)
        recall = right[type_] / max(expected[type_], 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-12)
        row = (type_, expected[type_], predicted[type_], precision, recall, f1)
        rows.append(dict(zip(_COLUMNS, row)))
    return rows


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
    claims_of: list[list] = [[] for _ in range(_NUM_BINS)]
    for case in cases:
        for claim in case.claims:
            claims_of[min(int(claim.confidence * _NUM_BINS), _NUM_BINS - 1)].append(claim)
    return [
        {
            "low": index / _NUM_BINS,
            "high": (index + 1) / _NUM_BINS,
            "num_claims": len(claims),
            "confidence": sum(claim.confidence for claim in claims) / len(claims),
            "right": sum(claim.is_right for claim in claims) / len(claims),
        }
        for index, claims in enumerate(claims_of)
        if claims
    ]


def mistakes_of(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """
    Returns the wrong claims, the most confident first. A claim has its line in the file and its id,
    if they are known.
    """
    wrong = [
        {
            **{name: getattr(case, name) for name in _PLACES if getattr(case, name) is not None},
            "text": claim.text or case.text,
            "predicted": claim.predicted,
            "expected": claim.expected,
            "confidence": claim.confidence,
        }
        for case in cases
        for claim in case.claims
        if not claim.is_right
    ]
    return sorted(wrong, key=lambda mistake: -mistake["confidence"])


def compare(own_cases: Sequence[Case], other_cases: Sequence[Case]) -> dict[str, Any]:
    """
    Returns by how much one model is better than another, and in how many cases it is better or
    worse. `own_cases` and `other_cases` have the same order. Raises `ConfigurationError` if their
    gold answers differ.
    """
    if [case.expected for case in own_cases] != [case.expected for case in other_cases]:
        raise ConfigurationError(
            "the answers of the two models cannot be compared, because the models read the data in "
            f"different ways: {len(own_cases):,} and {len(other_cases):,} cases, or different gold "
            "answers"
        )
    differences = [
        own_case.score - other_case.score for own_case, other_case in zip(own_cases, other_cases)
    ]
    num_better, num_worse = (
        sum(sign * difference > 0 for difference in differences) for sign in (1, -1)
    )
    num_equal = len(differences) - num_better - num_worse
    return {
        "score": score_of(other_cases),
        **paired_bootstrap(own_cases, other_cases),
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
    # Only this function needs SciPy, whose import takes a second.
    from scipy.stats import bootstrap

    # Shape: (cases, 2 models, measures, 4)
    counts = numpy.array(
        [[case.counts for case in pair] for pair in zip(first, second, strict=True)]
    )
    observed = _difference(counts.sum(axis=0))
    if len(counts) == 1:
        return {"difference": observed, "low": observed, "high": observed, "p_value": 1.0}
    result = bootstrap(
        [numpy.arange(len(counts))],
        lambda rows: _difference(counts[rows].sum(axis=0)),
        n_resamples=num_resamples,
        vectorized=False,
        method="percentile",
        random_state=numpy.random.default_rng(0),
    )
    low, high = result.confidence_interval
    # Rounding may make equal differences unequal. The margin makes them count as equal.
    is_far = numpy.abs(result.bootstrap_distribution - observed) >= abs(observed) - 1e-12
    p_value = (1 + is_far.sum()) / (1 + num_resamples)
    numbers = {"difference": observed, "low": low, "high": high, "p_value": p_value}
    return {name: float(number) for name, number in numbers.items()}


def _difference(sums: numpy.ndarray) -> float:
    """Returns the difference of two scores, given sums of shape (2, measures, 4)."""
    first, second = scores_of(sums)
    return float(first - second)
