import pytest
import torch
from sklearn.linear_model import LogisticRegression

from elmo_tasks.analysis.probe.linear_probe import LinearProbe
from elmo_tasks.analysis.probe.most_frequent import MostFrequent
from elmo_tasks.analysis.probe.probe import ProbeRow
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens

DIM, TAGS = 8, ("A", "B", "C")


def rows_of(probe: LinearProbe, train: TaggedTokens, validation: TaggedTokens) -> list[ProbeRow]:
    return list(probe.rows(train, validation, MostFrequent(train.keys, train.tags)))


def tokens(number: int, noise: float, seed: int, only: slice = slice(None)) -> TaggedTokens:
    """Returns tokens with three layers, of which only the second depends on the tags."""
    random = torch.Generator().manual_seed(seed)
    tags = torch.randint(len(TAGS), (number,), generator=random)
    layers = torch.randn(number, 3, DIM, generator=random)
    layers[:, 1] *= noise
    layers[torch.arange(number), 1, tags] += 2
    names = [TAGS[tag] for tag in tags]
    return TaggedTokens(names, [(name,) for name in names], layers[:, only].half())


def test_the_layer_that_knows_the_tags_is_told_from_those_that_do_not() -> None:
    probe = LinearProbe(num_epochs=8, batch_size=32, learning_rate=0.03)

    rows = rows_of(probe, tokens(600, 0.3, seed=0), tokens(300, 0.3, seed=1))

    assert [row.name for row in rows] == ["tokens", "LSTM 1", "LSTM 2", "mix"]
    accuracy = {row.name: row.accuracy for row in rows}
    assert accuracy["LSTM 1"] == 1 and accuracy["mix"] > 0.98
    # Chance would give one third.
    assert accuracy["tokens"] < 0.45 and accuracy["LSTM 2"] < 0.45
    assert [row.weights for row in rows[:3]] == [None] * 3
    weights = rows[3].weights
    assert weights is not None and sum(weights) == pytest.approx(1)
    assert weights[1] > 0.6


def test_a_classifier_of_one_layer_is_softmax_regression() -> None:
    only = slice(1, 2)
    train, validation = (tokens(n, 1.0, seed, only) for n, seed in ((900, 2), (600, 3)))
    reference = LogisticRegression(C=1e6, max_iter=1000)
    reference.fit(train.layers[:, 0].float().numpy(), [tag for (tag,) in train.tags])
    expected = reference.predict(validation.layers[:, 0].float().numpy()).tolist()

    classifier = LinearProbe(num_epochs=15, batch_size=64, learning_rate=0.03)._train(train, "")
    predicted = classifier.predict(validation.layers)

    # Both optimise the same loss on noisy data.
    agree = sum(map(str.__eq__, predicted, expected)) / 600
    score = sum(tag in right for tag, right in zip(expected, validation.tags)) / 600
    assert 0.7 < score < 0.95
    assert agree > 0.97


def test_the_same_seed_gives_the_same_rows_whatever_was_drawn_before() -> None:
    train, validation = tokens(100, 1.0, 4), tokens(100, 1.0, 5)

    def rows(seed: int) -> list:
        torch.rand(seed)
        return rows_of(LinearProbe(num_epochs=1, batch_size=50, seed=seed), train, validation)

    first, other = rows(1), rows(2)
    torch.rand(3)

    assert rows(1) == first != other


def test_a_tag_that_is_not_in_the_training_data_is_never_told() -> None:
    train = tokens(60, 0.1, 6)
    validation = train._replace(tags=[("D",)] * 60)

    rows = rows_of(LinearProbe(num_epochs=1), train, validation)

    assert [row.accuracy for row in rows] == [0] * 4


def test_any_of_several_right_tags_is_right_and_the_first_is_learnt() -> None:
    probe = LinearProbe(num_epochs=8, batch_size=32, learning_rate=0.03)
    train, validation = tokens(600, 0.1, 7), tokens(300, 0.1, 8)
    several = [[(*right, "E") for right in part.tags] for part in (train, validation)]

    expected = rows_of(probe, train, validation)
    rows = rows_of(probe, train._replace(tags=several[0]), validation._replace(tags=several[1]))

    assert rows == expected and rows[1].accuracy == 1
