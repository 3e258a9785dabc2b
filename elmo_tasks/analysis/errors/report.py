from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy

from elmo_tasks.analysis.errors.bootstrap import Difference, paired_bootstrap
from elmo_tasks.analysis.errors.case import Case, Claim, scores_of
from elmo_tasks.analysis.errors.links import KINDS
from elmo_tasks.analysis.errors.read_cases import Judged
from elmo_tasks.common.errors import ConfigurationError

# The groups by share of unknown words end at these shares.
_SHARES = (0.0, 0.1, 0.2, 1.0)
_NUM_LENGTH_GROUPS = 4
_NUM_BINS = 10


class Group(NamedTuple):
    """The score of a part of the cases."""

    name: str
    num_cases: int
    score: float


class Bin(NamedTuple):
    """The claims whose confidence is within an interval."""

    low: float
    high: float
    num_claims: int
    confidence: float
    right: float


class TypeScore(NamedTuple):
    """Precision and recall of the entities of a type, or of a semantic role."""

    type: str
    expected: int
    predicted: int
    precision: float
    recall: float


class ErrorReport(NamedTuple):
    """
    The errors of a model on a data set.

    # Parameters

    model, data: The names of the model and of the data.
    judged: The model's cases.
    other: The name of a second model to compare with.
    other_cases: The cases of the second model, in the same order.
    num_mistakes (default `10`): The maximum number of mistakes to show, and of cases in which one
        model beats the other.
    """

    model: str
    data: str
    judged: Judged
    other: str | None = None
    other_cases: list[Case] = []
    num_mistakes: int = 10

    @property
    def cases(self) -> list[Case]:
        return self.judged.cases

    def score(self) -> float:
        return score_of(self.cases)

    def confusion(self) -> dict[str, dict[str, int]]:
        """Returns how often each expected class was predicted as each class."""
        pairs = Counter((case.expected[0], case.predicted[0]) for case in self.cases)
        order = {name: index for index, name in enumerate(self.judged.judge.classes)}
        names = {name for pair in pairs for name in pair}
        classes = sorted(names, key=lambda name: (order.get(name, len(order)), name))
        return {row: {column: pairs[row, column] for column in classes} for row in classes}

    def types(self) -> list[TypeScore]:
        """Returns precision and recall for each type of entity, or for each role."""
        expected = Counter(type_ for case in self.cases for type_ in case.expected)
        predicted = Counter(type_ for case in self.cases for type_ in case.predicted)
        right = Counter(
            type_
            for case in self.cases
            for type_, claim in zip(case.predicted, case.claims)
            if claim.is_right
        )
        return [
            TypeScore(
                type_,
                expected[type_],
                predicted[type_],
                right[type_] / max(predicted[type_], 1),
                right[type_] / max(expected[type_], 1),
            )
            for type_ in sorted(expected | predicted)
        ]

    def links(self) -> dict[str, int]:
        """Returns the number of links of each kind."""
        kinds = Counter(kind for case in self.cases for kind in case.predicted)
        return {kind: kinds[kind] for kind in KINDS}

    def by_length(self) -> list[Group]:
        """
        Splits cases by length into four groups of about equal size. Returns the score of each.
        """
        lengths = [case.num_tokens for case in self.cases]
        ends = numpy.quantile(lengths, numpy.arange(1, _NUM_LENGTH_GROUPS + 1) / _NUM_LENGTH_GROUPS)
        edges = sorted({int(end) for end in ends})
        starts = [min(lengths), *(edge + 1 for edge in edges[:-1])]
        names = [
            f"{low}" if low == high else f"{low} to {high}" for low, high in zip(starts, edges)
        ]
        return _groups(self.cases, names, edges, lambda case: case.num_tokens)

    def by_unknown(self) -> list[Group]:
        """Groups the cases by their share of unknown words. Returns the score of each group."""
        percents = [f"{100 * share:g} %" for share in _SHARES]
        names = [percents[0], *(f"up to {percent}" for percent in percents[1:])]
        return _groups(
            self.cases, names, _SHARES, lambda case: case.num_unknown / max(case.num_tokens, 1)
        )

    def bins(self) -> list[Bin]:
        """Groups the claims into ten intervals of confidence. Empty intervals are left out."""
        found: list[list[Claim]] = [[] for _ in range(_NUM_BINS)]
        for claim in self._claims():
            found[min(int(claim.confidence * _NUM_BINS), _NUM_BINS - 1)].append(claim)
        return [
            Bin(
                index / _NUM_BINS,
                (index + 1) / _NUM_BINS,
                len(claims),
                sum(claim.confidence for claim in claims) / len(claims),
                sum(claim.is_right for claim in claims) / len(claims),
            )
            for index, claims in enumerate(found)
            if claims
        ]

    def calibration_error(self) -> float:
        """
        Returns the expected calibration error (Guo et al. 2017, section 2): the mean of
        `|confidence - accuracy|` over the bins, weighted by bin size.
        """
        bins = self.bins()
        total = sum(each.num_claims for each in bins)
        return sum(each.num_claims * abs(each.confidence - each.right) for each in bins) / max(
            total, 1
        )

    def mistakes(self) -> list[tuple[Claim, Case]]:
        """Returns the wrong claims that the model is most confident of."""
        wrong = [
            (claim, case) for case in self.cases for claim in case.claims if not claim.is_right
        ]
        return sorted(wrong, key=lambda pair: -pair[0].confidence)[: self.num_mistakes]

    def difference(self) -> Difference | None:
        """Returns the difference between the scores of both models, if there are two."""
        return None if self.other is None else paired_bootstrap(self.cases, self.other_cases)

    def better_than_other(self) -> list[tuple[Case, Case]]:
        """Returns the cases in which the model is better than the other, the clearest first."""
        return _clearest(self.cases, self.other_cases)[: self.num_mistakes]

    def worse_than_other(self) -> list[tuple[Case, Case]]:
        pairs = _clearest(self.other_cases, self.cases)[: self.num_mistakes]
        return [(mine, others) for others, mine in pairs]

    def agreement(self) -> dict[str, int]:
        """Returns in how many cases the model is better than the other, as good, and worse."""
        signs = Counter(
            numpy.sign(mine.score - others.score)
            for mine, others in zip(self.cases, self.other_cases)
        )
        return {"better": signs[1.0], "equal": signs[0.0], "worse": signs[-1.0]}

    def as_dict(self) -> dict[str, Any]:
        kind = self.judged.judge.kind
        report: dict[str, Any] = {
            "model": self.model,
            "data": self.data,
            "num_cases": len(self.cases),
            "metric": self.judged.judge.metric,
            "score": self.score(),
        }
        if kind == "classes":
            report["confusion"] = self.confusion()
        if kind in ("entities", "labels", "roles", "tags"):
            report["types"] = [each._asdict() for each in self.types()]
        if kind == "links":
            report["links"] = self.links()
        report |= {
            "by_length": [each._asdict() for each in self.by_length()],
            "by_unknown": [each._asdict() for each in self.by_unknown()],
            "calibration_error": self.calibration_error(),
            "calibration": [each._asdict() for each in self.bins()],
            "mistakes": [
                {
                    "text": claim.text or case.text,
                    "predicted": claim.predicted,
                    "expected": claim.expected,
                    "confidence": claim.confidence,
                }
                for claim, case in self.mistakes()
            ],
        }
        difference = self.difference()
        if difference is not None:
            report["against"] = {
                "model": self.other,
                "score": score_of(self.other_cases),
                **difference.as_dict(),
                "cases": self.agreement(),
                "only_this_is_right": [_pair(*pair) for pair in self.better_than_other()],
                "only_the_other_is_right": [_pair(*pair) for pair in self.worse_than_other()],
            }
        return report

    def _claims(self) -> Iterable[Claim]:
        return (claim for case in self.cases for claim in case.claims)


def check_same_data(first: Sequence[Case], second: Sequence[Case]) -> None:
    """Raises `ConfigurationError` unless two models' cases have the same gold answers."""
    if [case.expected for case in first] != [case.expected for case in second]:
        raise ConfigurationError(
            "the answers of the two models cannot be compared, because the models read the data in "
            f"different ways: {len(first):,} and {len(second):,} cases, or different gold answers"
        )


def score_of(cases: Sequence[Case]) -> float:
    return float(scores_of(numpy.sum([case.counts for case in cases], axis=0)))


def _groups(
    cases: Sequence[Case],
    names: Sequence[str],
    ends: Sequence[float],
    value_of: Callable[[Case], float],
) -> list[Group]:
    """
    Groups the cases by value. A group ends at each of `ends`. Returns the scores of the groups that
    have cases.
    """
    members: list[list[Case]] = [[] for _ in ends]
    for case in cases:
        members[numpy.searchsorted(ends, value_of(case))].append(case)
    return [
        Group(name, len(group), score_of(group)) for name, group in zip(names, members) if group
    ]


def _clearest(better: Sequence[Case], worse: Sequence[Case]) -> list[tuple[Case, Case]]:
    pairs = [pair for pair in zip(better, worse) if pair[0].score > pair[1].score]
    return sorted(pairs, key=lambda pair: pair[1].score - pair[0].score)


def _pair(mine: Case, others: Case) -> dict[str, Any]:
    return {
        "text": mine.text,
        "expected": mine.expected,
        "predicted": [claim.predicted for claim in mine.claims],
        "predicted_by_other": [claim.predicted for claim in others.claims],
    }
