from typing import Any

import pytest

from elmo_tasks.analysis.errors.report import error_report
from tests.helpers.error_cases import classified, compared_cases

REPORT = error_report("ours", "dev.txt", compared_cases(), num_mistakes=2)


def rows(part: list[dict[str, Any]]) -> list[tuple]:
    return [tuple(each.values()) for each in part]


def test_classes_have_the_order_of_their_task() -> None:
    cases = [classified("positive", "neutral"), classified("negative", "very positive")]

    confusion = error_report("", "", compared_cases(cases))["confusion"]

    assert list(confusion) == ["negative", "neutral", "positive", "very positive"]


def test_lengths_are_cut_at_their_quartiles() -> None:
    # The quartiles of 2, 3, ..., 10 and 20 are 4.25, 6.5 and 8.75.
    assert rows(REPORT["by_length"]) == [
        ("2 to 4", 3, 1.0),
        ("5 to 6", 2, 0.5),
        ("7 to 8", 2, 1.0),
        ("9 to 20", 3, pytest.approx(1 / 3)),
    ]


def test_all_of_one_length_are_one_group() -> None:
    report = error_report("", "", compared_cases([classified("a", "a"), classified("a", "b")]))

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
