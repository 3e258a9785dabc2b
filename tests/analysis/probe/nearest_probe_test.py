from collections import Counter

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.analysis.probe.most_frequent import MostFrequent
from elmo_tasks.analysis.probe.nearest_probe import NearestProbe
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens


def tokens(*rows: tuple[str, str, list[float]]) -> TaggedTokens:
    """Returns tokens with one layer, from their keys, tags joined by `|`, and vectors."""
    vectors = torch.tensor([vector for _, _, vector in rows]).unsqueeze(1)
    tags = [tuple(tag.split("|")) for _, tag, _ in rows]
    return TaggedTokens([row[0] for row in rows], tags, vectors.half())


def accuracies(
    train: TaggedTokens, validation: TaggedTokens, back_off: dict[str, str] | None = None
) -> list[float]:
    most_frequent = MostFrequent(train.keys, train.tags, back_off)
    return [row.accuracy for row in NearestProbe().rows(train, validation, most_frequent)]


TRAIN = tokens(
    ("bank", "river", [1, 0]),
    ("bank", "river", [1, 1]),
    ("bank", "money", [0, 9]),
    ("play", "game", [0, 1]),
    ("run", "river", [0, 1]),
)


@pytest.mark.parametrize(
    ("key", "vector", "sense"),
    [
        # The mean of river is (1, 0.5): the angle of (2, 2) to it is smaller than to (0, 9).
        ("bank", [2, 2], "river"),
        ("bank", [1, 4], "money"),
        # Senses of other words are not considered.
        ("play", [1, 0.5], "game"),
        # A word that is unknown gets the most frequent sense of all.
        ("unknown", [0, 1], "river"),
    ],
)
def test_the_sense_is_the_nearest_of_the_word_and_else_the_most_frequent(
    key: str, vector: list[float], sense: str
) -> None:
    senses = {
        other: accuracies(TRAIN, tokens((key, other, vector)))[0]
        for other in ("river", "money", "game")
    }

    assert senses == {other: float(other == sense) for other in senses}


def test_any_of_several_right_senses_is_right() -> None:
    # The nearest sense is river.
    rights = ["river|money", "money|river", "river", "money", "money|game"]

    found = [accuracies(TRAIN, tokens(("bank", right, [2, 2]))) for right in rights]

    assert found == [[1.0], [1.0], [1.0], [0.0], [0.0]]


def test_an_occurrence_with_several_senses_is_one_of_each() -> None:
    # The mean of x is (1, 0) and that of y is (0.5, 0.5).
    train = tokens(("w", "x|y", [1, 0]), ("w", "y", [0, 1]))

    found = {
        tag: accuracies(train, tokens(("w", tag, [3, 1]), ("w", tag, [1, 1]), ("w", tag, [0, 1])))
        for tag in "xy"
    }

    assert found == {"x": [pytest.approx(1 / 3)], "y": [pytest.approx(2 / 3)]}


def test_a_word_that_the_training_data_lacks_has_the_sense_of_the_back_off() -> None:
    validation = tokens(("boat", "ship", [0, 1]), ("bank", "river", [1, 0]), ("cat", "x", [0, 1]))

    found = [
        accuracies(TRAIN, validation, back_off)
        for back_off in (None, {"boat": "ship", "bank": "slope"})
    ]

    # The sense of bank is in the training data, and nothing knows cat.
    assert found == [[pytest.approx(1 / 3)], [pytest.approx(2 / 3)]]


words = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from("xyz"),
        st.lists(st.integers(-4, 4), min_size=3, max_size=3),
    ),
    min_size=1,
    max_size=12,
)


@given(words, words)
def test_it_is_the_nearest_of_all_means_compared_one_by_one(train: list, validation: list) -> None:
    def nearest(key: str, vector: list[int]) -> set[str]:
        """Returns the senses with the largest cosine, which are several for equal cosines."""
        means = {
            tag: numpy.mean([v for k, t, v in train if (k, t) == (key, tag)], axis=0)
            for tag in {t for k, t, _ in train if k == key}
        }
        if not means:
            return {Counter(t for _, t, _ in train).most_common(1)[0][0]}
        cosines = {
            tag: numpy.dot(mean, vector) / max(1e-9, float(numpy.linalg.norm(mean)))
            for tag, mean in means.items()
        }
        best = max(cosines.values())
        return {tag for tag, value in cosines.items() if value > best - 1e-3}

    of_word = [tag in nearest(key, vector) for key, tag, vector in validation]
    ambiguous = sum(len(nearest(key, vector)) > 1 for key, _, vector in validation)

    (accuracy,) = accuracies(tokens(*train), tokens(*validation))

    right = round(accuracy * len(validation))
    assert sum(of_word) - ambiguous <= right <= sum(of_word)


def test_of_senses_that_are_alike_the_most_frequent_is_taken() -> None:
    train = tokens(*(("w", tag, [0.1, 0.3]) for tag in "xyyzyx"))

    found = {tag: accuracies(train, tokens(("w", tag, [0.3, 0.1]))) for tag in "xyz"}

    assert found == {"x": [0.0], "y": [1.0], "z": [0.0]}


def test_each_layer_has_its_own_senses() -> None:
    # In the second layer, the vectors of the two senses are exchanged.
    layers = torch.tensor([[[1.0, 0], [0, 1]], [[0, 1], [1, 0]]])
    train = TaggedTokens(["w", "w"], [("x",), ("y",)], layers.half())
    validation = train._replace(layers=layers[:, [0, 0]].half())

    assert accuracies(train, validation) == [1.0, 0.0]
