import pytest

from elmo_tasks.analysis.errors.report import ErrorReport, TypeScore, check_same_data
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.error_cases import CLASSIFIED, classified, entities, judged

REPORT = ErrorReport("ours", "dev.txt", judged(), num_mistakes=2)


def test_the_score_and_the_confusion_are_counted() -> None:
    assert REPORT.score() == pytest.approx(0.7)
    assert REPORT.confusion() == {"a": {"a": 4, "b": 1}, "b": {"a": 2, "b": 3}}


def test_classes_have_the_order_of_their_task() -> None:
    cases = [classified("positive", "neutral"), classified("negative", "very positive")]

    confusion = REPORT._replace(judged=judged(cases)).confusion()

    assert list(confusion) == ["negative", "neutral", "positive", "very positive"]


def test_lengths_are_cut_at_their_quartiles() -> None:
    # The quartiles of 2, 3, ..., 10 and 20 are 4.25, 6.5 and 8.75.
    assert [tuple(each) for each in REPORT.by_length()] == [
        ("2 to 4", 3, 1.0),
        ("5 to 6", 2, 0.5),
        ("7 to 8", 2, 1.0),
        ("9 to 20", 3, pytest.approx(1 / 3)),
    ]


def test_all_of_one_length_are_one_group() -> None:
    report = REPORT._replace(judged=judged([classified("a", "a"), classified("a", "b")]))

    assert [tuple(each) for each in report.by_length()] == [("5", 2, 0.5)]


def test_shares_of_unknown_words_have_groups() -> None:
    # The shares above 0 are 1/5, 2/6, 1/10 and 20/20.
    assert [tuple(each) for each in REPORT.by_unknown()] == [
        ("0 %", 6, 1.0),
        ("up to 10 %", 1, 0.0),
        ("up to 20 %", 1, 1.0),
        ("up to 100 %", 2, 0.0),
    ]


def test_the_calibration_error_is_the_weighted_distance_of_the_bins() -> None:
    bins = REPORT.bins()

    assert [(each.low, each.num_claims) for each in bins] == [
        (0.5, 1),
        (0.6, 1),
        (0.7, 2),
        (0.8, 2),
        (0.9, 4),
    ]
    assert bins[-1].confidence == pytest.approx((0.95 + 0.95 + 0.99 + 1.0) / 4)
    assert bins[-1].right == pytest.approx(3 / 4)
    distances = [1 * 0.55, 1 * 0.35, 2 * 0.25, 2 * 0.35, 4 * (0.9725 - 0.75)]
    assert REPORT.calibration_error() == pytest.approx(sum(distances) / 10)


def test_the_most_confident_mistakes_come_first() -> None:
    assert [claim.confidence for claim, _ in REPORT.mistakes()] == [0.99, 0.85]


def test_types_of_entities_have_precision_and_recall() -> None:
    report = REPORT._replace(judged=judged(entities(), "elmo_ner"))

    # Four of the six predicted and expected entities are halves of a right one.
    assert report.score() == pytest.approx(4 / 6)
    assert report.types() == [
        TypeScore("LOC", 2, 1, 1.0, 0.5),
        TypeScore("PER", 1, 2, 0.5, 1.0),
    ]


def test_another_model_is_compared_case_by_case() -> None:
    others = list(CLASSIFIED)
    others[4] = classified("a", "a", 0.6, 6)
    others[0] = classified("a", "b", 0.6, 2)
    others[1] = classified("a", "b", 0.6, 3)
    report = REPORT._replace(other="theirs", other_cases=others)

    assert report.agreement() == {"better": 2, "equal": 7, "worse": 1}
    assert [mine.text for mine, _ in report.better_than_other()] == ["a as a *2*", "a as a *3*"]
    ((mine, other),) = report.worse_than_other()
    assert (mine.predicted, other.predicted) == (["b"], ["a"])
    difference = report.difference()
    assert difference is not None and difference.difference == pytest.approx(0.1)
    against = report.as_dict()["against"]
    assert against["model"] == "theirs" and against["score"] == pytest.approx(0.6)


def test_other_data_is_not_compared() -> None:
    with pytest.raises(ConfigurationError, match="10 and 9 cases, or different gold answers"):
        check_same_data(CLASSIFIED, CLASSIFIED[1:])
