import numpy
import pytest

from elmo_tasks.analysis.errors.case import scores_of


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
