import itertools
from typing import Any

import numpy
import pytest

from elmo_tasks.analysis.errors.case import Case, score_of, scores_of
from elmo_tasks.analysis.errors.report import compare, error_report, paired_bootstrap
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.error_cases import CLASSIFIED, class_case, compared_cases

REPORT = error_report("ours", "dev.txt", compared_cases(), num_mistakes=2)


def rows(part: list[dict[str, Any]]) -> list[tuple]:
    return [tuple(each.values()) for each in part]


def test_classes_have_the_order_of_their_task() -> None:
    cases = [class_case("positive", "neutral"), class_case("negative", "very positive")]

    confusion = error_report("", "", compared_cases(cases))["confusion"]

    assert list(confusion) == ["negative", "neutral", "positive", "very positive"]


@pytest.mark.filterwarnings("error")
def test_one_class_alone_is_counted_without_a_warning() -> None:
    report = error_report("", "", compared_cases([class_case("neutral", "neutral")]))

    assert report["confusion"] == {"neutral": {"neutral": 1}}


def test_lengths_are_cut_at_their_quartiles() -> None:
    # The quartiles of 2, 3, ..., 10 and 20 are 4.25, 6.5 and 8.75.
    assert rows(REPORT["by_length"]) == [
        ("2 to 4", 3, 1.0),
        ("5 to 6", 2, 0.5),
        ("7 to 8", 2, 1.0),
        ("9 to 20", 3, pytest.approx(1 / 3)),
    ]


def test_all_of_one_length_are_one_group() -> None:
    report = error_report("", "", compared_cases([class_case("a", "a"), class_case("a", "b")]))

    assert rows(report["by_length"]) == [("5", 2, 0.5)]


def test_the_calibration_error_is_the_weighted_distance_of_the_bins() -> None:
    bins = REPORT["calibration"]

    assert [(each["low"], each["num_claims"]) for each in bins] == [
        (0.5, 1),
        (0.6, 1),
        (0.7, 2),
        (0.8, 2),
        (0.9, 4),
    ]
    assert bins[-1]["confidence"] == pytest.approx((0.95 + 0.95 + 0.99 + 1.0) / 4)
    assert bins[-1]["right"] == pytest.approx(3 / 4)
    distances = [1 * 0.55, 1 * 0.35, 2 * 0.25, 2 * 0.35, 4 * (0.9725 - 0.75)]
    assert REPORT["calibration_error"] == pytest.approx(sum(distances) / 10)


def test_the_most_confident_mistakes_come_first() -> None:
    assert [each["confidence"] for each in REPORT["mistakes"]] == [0.99, 0.85]


def test_another_model_is_compared_case_by_case() -> None:
    others = list(CLASSIFIED)
    others[4] = class_case("a", "a", 0.6, 6)
    others[0] = class_case("a", "b", 0.6, 2)
    others[1] = class_case("a", "b", 0.6, 3)

    against = compare(CLASSIFIED, others)

    assert against["score"] == score_of(others)
    assert against["cases"] == {"better": 2, "equal": 7, "worse": 1}
    assert against["difference"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (CLASSIFIED[1:], "10 and 9 cases"),
        ([class_case("b", "a"), *CLASSIFIED[1:]], "10 and 10 cases, or different gold answers"),
    ],
)
def test_other_data_is_not_compared(others: list[Case], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        compare(CLASSIFIED, others)


def cases(*counts: tuple[float, float]) -> list[Case]:
    return [Case("", [(hits, total, hits, total)], [], [], []) for hits, total in counts]


def test_the_p_value_and_the_interval_are_those_of_all_resamples() -> None:
    first = cases((1, 1), (1, 1), (1, 2), (0, 1), (1, 1))
    second = cases((0, 1), (1, 2), (1, 1), (0, 1), (0, 1))

    found = paired_bootstrap(first, second, num_resamples=20_000)

    # Brute force over all 5^5 ways to draw five cases.
    differences = []
    for drawn in itertools.product(range(5), repeat=5):
        scores = [
            sum(model[index].counts[0][0] for index in drawn)
            / sum(model[index].counts[0][1] for index in drawn)
            for model in (first, second)
        ]
        differences.append(scores[0] - scores[1])
    observed = 4 / 6 - 2 / 6
    share = sum(abs(each - observed) >= observed - 1e-12 for each in differences) / 5**5
    differences.sort()
    assert found["difference"] == pytest.approx(observed)
    assert found["p_value"] == pytest.approx(share, abs=0.02)
    assert found["low"] == pytest.approx(differences[int(0.025 * 5**5)], abs=0.05)
    assert found["high"] == pytest.approx(differences[int(0.975 * 5**5)], abs=0.05)


def test_equal_models_do_not_differ() -> None:
    same = cases((1, 1), (0, 1), (1, 1))

    found = paired_bootstrap(same, same, num_resamples=150)

    assert found == {"difference": 0, "low": 0, "high": 0, "p_value": 1}


def test_a_model_that_is_always_better_differs_by_more_than_chance() -> None:
    found = paired_bootstrap(cases(*[(1, 1)] * 50), cases(*[(0, 1)] * 50), num_resamples=999)

    assert found == {"difference": 1, "low": 1, "high": 1, "p_value": pytest.approx(0.001)}


def test_a_score_is_the_mean_of_the_f1_of_its_measures() -> None:
    # Precision 1/2 and recall 1/4, and precision 3/4 and recall 3/4.
    first, second = (1, 2, 1, 4), (3, 4, 6, 8)

    scores = scores_of(numpy.array([[first, second], [first, first]]))

    assert scores == pytest.approx([(1 / 3 + 3 / 4) / 2, 1 / 3])


def test_nothing_expected_and_nothing_predicted_is_right_and_other_cases_of_nothing_are_wrong() -> (
    None
):
    nothing, only_predicted, only_expected, wrong = (
        [(0, predicted, 0, expected)] for predicted, expected in [(0, 0), (2, 0), (0, 2), (2, 3)]
    )

    scores = scores_of(numpy.array([nothing, only_predicted, only_expected, wrong]))

    assert scores.tolist() == [1, 0, 0, 0]


def test_labels_and_tags_have_scores_by_type_and_their_means() -> None:
    labels = [Case("", [], [], ["x", "y"], ["x"]), Case("", [], [], [], ["x"])]
    tags = [Case("", [(1, 1, 1, 1)], [], ["N", "V", "N"], ["N", "N", "N"])]

    of_labels = error_report("", "", compared_cases(counted(labels), "labels"))
    of_tags = error_report("", "", compared_cases(tags, "tags"))

    assert rows(of_labels["types"]) == [
        ("x", 1, 2, 0.5, 1.0, pytest.approx(2 / 3)),
        ("y", 1, 0, 0.0, 0.0, 0.0),
    ]
    assert of_labels["macro"] == pytest.approx({"precision": 0.25, "recall": 0.5, "f1": 1 / 3})
    assert rows(of_tags["types"]) == [
        ("N", 2, 3, pytest.approx(2 / 3), 1.0, pytest.approx(0.8)),
        ("V", 1, 0, 0.0, 0.0, 0.0),
    ]


def counted(cases: list[Case]) -> list[Case]:
    return [case._replace(counts=[(0, 1, 0, 1)]) for case in cases]


def test_one_case_alone_does_not_differ_by_chance() -> None:
    found = paired_bootstrap(cases((1, 1)), cases((0, 1)))

    assert found == {"difference": 1, "low": 1, "high": 1, "p_value": 1}
