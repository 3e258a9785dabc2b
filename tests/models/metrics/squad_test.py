import pytest
from allennlp.training.metrics import Metric

from elmo_tasks.models.metrics.squad import SquadMetric

# A prediction, the answers, and exact match and F1 by the rules of the official script.
CASES: list[tuple[str, list[str], float, float]] = [
    # Equal once normalised: case, punctuation, articles, white space.
    ("Denver Broncos", ["Denver Broncos"], 1, 1),
    ("denver broncos", ["Denver BRONCOS"], 1, 1),
    ("the Denver Broncos", ["Denver Broncos"], 1, 1),
    ("The  Denver\tBroncos.", ["Denver Broncos"], 1, 1),
    ("an apple a day", ["apple day"], 1, 1),
    ('"gold"', ["gold"], 1, 1),
    ("U.S.", ["US"], 1, 1),
    ("twenty-one", ["twentyone"], 1, 1),
    ("$5", ["5"], 1, 1),
    ("Café\u00a0Zoë", ["café zoë"], 1, 1),
    # Not equal: only ASCII punctuation is removed, and only articles that are whole words.
    ("“gold”", ["gold"], 0, 0),
    ("1990–1995", ["19901995"], 0, 0),
    ("theory", ["ory"], 0, 0),
    ("£300", ["300"], 0, 0),
    # Punctuation is removed before articles, so that these two become one word.
    ("a-b", ["b"], 0, 0),
    ("the-end", ["end"], 0, 0),
    # Shared words: 2 * precision * recall / (precision + recall).
    ("Broncos", ["Denver Broncos"], 0, 2 / 3),
    ("Denver Broncos of Colorado", ["Denver Broncos"], 0, 2 * 0.5 * 1 / 1.5),
    ("red green", ["green blue"], 0, 0.5),
    ("one two three four", ["four six"], 0, 2 * 0.25 * 0.5 / 0.75),
    ("green red", ["red green"], 0, 1),
    # A shared word counts as often as it occurs in both texts.
    ("red red", ["red"], 0, 2 * 0.5 * 1 / 1.5),
    ("red red blue", ["red red green"], 0, 2 / 3),
    ("no", ["yes"], 0, 0),
    # Both texts become empty: they match exactly, but share no word, so that F1 is 0.
    ("the", ["a"], 1, 0),
    ("", ["..."], 1, 0),
    ("", ["gold"], 0, 0),
    ("the", ["gold"], 0, 0),
    # The best answer counts, for exact match and F1 separately.
    ("Santa Clara", ["Levi's Stadium", "Santa Clara, California", "Santa Clara"], 1, 1),
    ("Clara", ["San Jose", "Santa Clara", "Santa Clara, California"], 0, 2 / 3),
    ("the", ["a", "gold"], 1, 0),
    ("gold", ["gold", "gold"], 1, 1),
]


@pytest.mark.parametrize(("prediction", "answers", "em", "f1"), CASES)
def test_case_worked_by_hand(prediction: str, answers: list[str], em: float, f1: float) -> None:
    metric = SquadMetric()

    metric([prediction], [answers])

    assert metric.get_metric() == {"em": pytest.approx(em), "f1": pytest.approx(f1)}


def test_it_is_the_mean_over_questions_whatever_their_batches() -> None:
    metric = Metric.by_name("elmo_squad")()

    metric(["gold", "red"], [["gold"], ["red green"]])
    metric([""], [["gold"]])

    assert metric.get_metric(reset=True) == {
        "em": pytest.approx(1 / 3),
        "f1": pytest.approx((1 + 2 / 3) / 3),
    }
    assert metric.get_metric() == {"em": 0, "f1": 0}
