"""Semantic roles and coreference, whose answers are compared in several steps."""

from random import Random
from typing import Any

import numpy
import pytest
from allennlp.data import Token

from elmo_tasks.analysis.errors.case import score_of, scores_of
from elmo_tasks.analysis.errors.compare_answers import COMPARISONS
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.models.metrics.coref import CorefMetric
from elmo_tasks.models.metrics.spans import SrlMetric
from elmo_tasks.readers.coref import CorefReader
from elmo_tasks.readers.entities import Entity
from elmo_tasks.readers.srl import SrlReader

SENTENCES = [
    "Ann met Bea in Rome .".split(),
    "She liked the city .".split(),
    "It is old , she said .".split(),
]
ANN, BEA, ROME, SHE, CITY, IT, SHE_SAID = (
    (0, 1),
    (2, 3),
    (4, 5),
    (6, 7),
    (8, 10),
    (11, 12),
    (15, 16),
)


def compare_roles(
    predicted: list[tuple[str, int, int, float]], expected: list[tuple[str, int, int]] | None
) -> Any:
    words = "The storm broke , they say , two windows".split()
    instance = SrlReader().text_to_instance([Token(word) for word in words], 2)
    if expected is not None:
        instance["metadata"].metadata["arguments"] = [Entity(*span) for span in expected]
    roles = [
        {"role": role, "tokens": [start, end], "confidence": confidence}
        for role, start, end, confidence in predicted
    ]
    answer = {"tokens": words, "predicates": [{"text": "broke", "index": 2, "roles": roles}]}
    return COMPARISONS["roles"][1](instance, answer)


def compare_links(
    predicted: list[list[tuple[int, int]]], expected: list[list[tuple[int, int]]] | None
) -> Any:
    """Compares clusters in which each mention refers to the one before it."""
    words = [word for sentence in SENTENCES for word in sentence]
    sentence_of = [index for index, sentence in enumerate(SENTENCES) for _ in sentence]
    clusters = [
        [
            {
                "text": " ".join(words[start:end]),
                "sentence": sentence_of[start],
                "tokens": [start, end],
                "antecedent": index - 1 if index else None,
                "probability": 0.7 if index else None,
            }
            for index, (start, end) in enumerate(cluster)
        ]
        for cluster in predicted
    ]
    instance = CorefReader().text_to_instance(SENTENCES, clusters=expected)
    return COMPARISONS["links"][1](instance, {"sentences": SENTENCES, "clusters": clusters})


def test_a_role_is_right_with_all_its_parts_and_the_predicate_does_not_count() -> None:
    expected = [("ARG0", 0, 2), ("V", 2, 3), ("ARG1", 7, 8), ("C-ARG1", 8, 9)]

    case = compare_roles(
        [("ARG0", 0, 2, 0.9), ("V", 2, 3, 1.0), ("ARG1", 7, 8, 0.8), ("C-ARG1", 8, 9, 0.6)],
        expected,
    )

    assert case.counts == [(2, 2, 2, 2)]
    assert [claim.predicted for claim in case.claims] == ["ARG0 The storm", "ARG1 two ... windows"]
    # An argument in parts is as confident as its least confident part.
    assert [claim.confidence for claim in case.claims] == [0.9, 0.6]
    assert case.text == "broke: The storm broke , they say , two windows"


def test_a_wrong_role_is_shown_beside_those_that_it_overlaps() -> None:
    case = compare_roles(
        [("ARG1", 0, 2, 0.5), ("ARGM-DIS", 3, 6, 0.4)], [("ARG0", 0, 2), ("ARG1", 7, 9)]
    )

    assert case.counts == [(0, 2, 0, 2)]
    assert [claim.expected for claim in case.claims] == ["ARG0 The storm", "nothing"]
    assert (case.expected, case.predicted) == (["ARG0", "ARG1"], ["ARG1", "ARGM-DIS"])


def test_the_score_of_roles_is_that_of_the_metric() -> None:
    draw = Random(1)
    metric, cases = SrlMetric(), []
    roles = ["ARG0", "C-ARG0", "R-ARG0", "ARG1", "C-ARG1", "V"]

    for _ in range(100):
        predicted, expected = (
            [
                (draw.choice(roles), start, draw.choice([start + 1, start + 2]))
                for start in range(0, 8, 2)
                if draw.random() < 0.7
            ]
            for _ in range(2)
        )
        metric([predicted], [expected])
        cases.append(compare_roles([(*span, 0.5) for span in predicted], expected))

    assert score_of(cases) == pytest.approx(metric.get_metric()["f1-measure-overall"])
    assert 0 < score_of(cases) < 1


@pytest.mark.parametrize(
    "predicted, num_right, claim, f1",
    [
        (
            [[ANN, SHE, SHE_SAID], [ROME, CITY, IT]],
            4,
            ("It → the city", "It → the city", True),
            1.0,
        ),
        # MUC by hand. One of 2 predicted links is right, and 1 of 4 expected ones is found.
        ([[ANN, SHE], [BEA, SHE_SAID]], 1, ("she → Bea", "she → She", False), 2 * 1 / (2 + 4)),
        # One cluster for both: 4 of 5 predicted links are right, and all expected ones are found.
        (
            [[ANN, ROME, SHE, CITY, IT, SHE_SAID]],
            1,
            ("Rome → Ann", "no antecedent", False),
            2 * 4 / (5 + 4),
        ),
        # A cluster in two parts: 1 of 1 predicted links, and 1 of 4 expected ones.
        ([[SHE, SHE_SAID]], 1, ("she → She", "she → She", True), 2 * 1 / (1 + 4)),
        ([[BEA, IT]], 0, ("It → Bea", "It → the city", False), 0.0),
        ([[ROME, BEA]], 0, ("Bea → Rome", "no mention", False), 0.0),
    ],
)
def test_a_link_is_right_within_a_cluster(
    predicted: list[list[tuple[int, int]]],
    num_right: int,
    claim: tuple[str, str, bool],
    f1: float,
) -> None:
    metric, expected = CorefMetric(), [[ANN, SHE, SHE_SAID], [ROME, CITY, IT]]

    case = compare_links(predicted, expected)

    assert sum(claim.is_right for claim in case.claims) == num_right
    assert len(case.claims) == sum(len(cluster) - 1 for cluster in predicted)
    assert case.expected == ["She → Ann", "she → She", "the city → Rome", "It → the city"]
    # A mistake is read in the sentence of the mention; sentences begin at tokens 0, 6 and 11.
    start, _ = predicted[0][1]
    assert case.claims[0].text == " ".join(SENTENCES[(start >= 6) + (start >= 11)])
    assert all(each.confidence == 0.7 for each in case.claims)
    assert claim in [(each.predicted, each.expected, each.is_right) for each in case.claims]
    assert scores_of(numpy.array(case.counts[:1])) == pytest.approx(f1)
    metric([predicted], [expected])
    assert case.score == pytest.approx(metric.get_metric()["f1-measure-mean"])


def test_a_document_without_clusters_is_no_mistake() -> None:
    case = compare_links([], [])

    assert case.score == 1
    assert not case.claims and not case.expected and not case.predicted


def test_data_without_right_answers_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="the data has no gold answers"):
        compare_roles([], None)
    with pytest.raises(ConfigurationError, match="the data has no gold answers"):
        compare_links([], None)
