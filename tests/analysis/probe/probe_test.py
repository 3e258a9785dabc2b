from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.common import Params
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from elmo_tasks.analysis.probe.probe import (
    LinearProbe,
    MostFrequent,
    NearestProbe,
    run_config,
    run_probe,
    text_of,
)
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens
from tests.helpers.probe_configs import CONFIGS, ROOT, config_file

DIM, TAGS = 8, ("A", "B", "C")


def drawn(number: int, noise: float, seed: int, only: slice = slice(None)) -> TaggedTokens:
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

    rows = list(probe.rows(drawn(600, 0.3, seed=0), drawn(300, 0.3, seed=1)))

    assert [row.name for row in rows] == ["tokens", "LSTM 1", "LSTM 2", "mix"]
    accuracy = {row.name: row.accuracy for row in rows}
    assert accuracy["LSTM 1"] == 1 and accuracy["mix"] > 0.98
    # Chance would give one third.
    assert accuracy["tokens"] < 0.45 and accuracy["LSTM 2"] < 0.45
    assert [row.weights for row in rows[:3]] == [None] * 3
    weights = rows[3].weights
    assert weights is not None and sum(weights) == pytest.approx(1)
    assert weights[1] > 0.6


def test_one_layer_is_classified_as_by_scikit_learn() -> None:
    only = slice(1, 2)
    train, validation = (drawn(n, 1.0, seed, only) for n, seed in ((900, 2), (600, 3)))
    reference = LogisticRegression(C=1e6, max_iter=1000)
    reference.fit(train.layers[:, 0].float().numpy(), [tag for (tag,) in train.tags])
    expected = reference.predict(validation.layers[:, 0].float().numpy()).tolist()

    model = LinearProbe(num_epochs=15, batch_size=64, learning_rate=0.03)._train(train, "")
    predicted = model.predict(validation.layers)

    # Both optimise the same loss on noisy data.
    agree = sum(map(str.__eq__, predicted, expected)) / 600
    score = sum(tag in right for tag, right in zip(expected, validation.tags)) / 600
    assert 0.7 < score < 0.95
    assert agree > 0.97


def test_the_same_seed_gives_the_same_rows_whatever_was_drawn_before() -> None:
    train, validation = drawn(100, 1.0, 4), drawn(100, 1.0, 5)

    def rows(seed: int) -> list:
        torch.rand(seed)
        probe = LinearProbe(num_epochs=1, batch_size=50, seed=seed)
        return list(probe.rows(train, validation))

    first, other = rows(1), rows(2)
    torch.rand(3)

    assert rows(1) == first != other


def test_any_of_several_right_tags_is_right_and_the_first_is_learnt() -> None:
    probe = LinearProbe(num_epochs=4, batch_size=16, learning_rate=0.1)
    train, validation = drawn(200, 0.1, 7), drawn(300, 0.1, 8)
    several = [[(*right, "E") for right in part.tags] for part in (train, validation)]

    expected = list(probe.rows(train, validation))
    rows = list(probe.rows(train._replace(tags=several[0]), validation._replace(tags=several[1])))
    unknown = probe.rows(train, validation._replace(tags=[("D",)] * 300))

    assert rows == expected and rows[1].accuracy == 1
    assert [row.accuracy for row in unknown] == [0] * 4


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        ("a/X b/Y a/Z c/Y a/Z d/Y", {"a": "Z", "b": "Y", "c": "Y", "e": "Y"}),
        # Of two equally frequent tags the first is taken.
        ("a/X a/Y", {"a": "X", "b": "X"}),
        ("a/X|Y a/Y a/Z", {"a": "Y"}),
    ],
)
def test_a_word_has_its_most_frequent_tag_or_that_of_all(
    train: str, expected: dict[str, str]
) -> None:
    keys, tags = zip(*(token.split("/") for token in train.split()))

    most_frequent = MostFrequent(keys, [tuple(tag.split("|")) for tag in tags])

    assert {key: most_frequent.of(key) for key in expected} == expected


def tokens(*rows: Any) -> TaggedTokens:
    """Returns tokens with one layer, from their keys, tags joined by `|`, and vectors."""
    vectors = torch.tensor([vector for _, _, vector in rows]).unsqueeze(1)
    tags = [tuple(tag.split("|")) for _, tag, _ in rows]
    return TaggedTokens([row[0] for row in rows], tags, vectors.half())


def accuracies(train: TaggedTokens, validation: TaggedTokens) -> list[float]:
    return [row.accuracy for row in NearestProbe().rows(train, validation)]


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
def test_the_sense_is_the_nearest_of_all_means_compared_one_by_one(
    train: list, validation: list
) -> None:
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


def test_an_occurrence_with_several_senses_is_one_of_each() -> None:
    # The mean of x is (1, 0) and that of y is (0.5, 0.5).
    train = tokens(("w", "x|y", [1, 0]), ("w", "y", [0, 1]))

    found = {
        tag: accuracies(train, tokens(("w", tag, [3, 1]), ("w", tag, [1, 1]), ("w", tag, [0, 1])))
        for tag in ("x", "y", "x|y", "z|y")
    }

    expected = {"x": 1 / 3, "y": 2 / 3, "x|y": 1, "z|y": 2 / 3}
    assert found == {tag: [pytest.approx(share)] for tag, share in expected.items()}


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


def without_vectors(text: str) -> TaggedTokens:
    """Returns tokens such as `word/TAG`, in which all vectors are 0."""
    return tokens(*((*token.split("/"), [0.0, 0.0]) for token in text.split()))


def test_the_baselines_stand_before_the_layers_and_any_right_tag_is_right() -> None:
    report = run_probe(
        "a title",
        LinearProbe(num_epochs=1),
        without_vectors("a/X a/X b/Y c/Z c/X"),
        without_vectors("a/X b/Y c/X d/X|Y d/Y d/V d/V e/X"),
    )

    rows = [(row["name"], row["accuracy"]) for row in report["rows"]]
    assert rows[:2] == [
        # Four of eight tags are X.
        ("most frequent tag", 0.5),
        # b is right, too; c has Z as often as X, but Z first; d and e are unknown and get X.
        ("most frequent tag of each word", 0.5),
    ]
    assert [name for name, _ in rows[2:]] == ["tokens", "mix"]


def test_the_text_is_a_table_with_the_weights_of_the_mix() -> None:
    rows: list[dict[str, Any]] = [
        {"name": "tokens", "accuracy": 0.5, "weights": None},
        {"name": "mix", "accuracy": 1.0, "weights": [0.25, 0.75]},
    ]

    text = text_of({"title": "pos of dev.txt", "rows": rows})

    assert text.startswith("pos of dev.txt\n\n")
    assert "| mix    |      100.00 |" in text
    assert text.endswith("\nWeights of the layers in the mix: 0.250 tokens, 0.750 LSTM 1.")


def read(config: Path) -> dict[str, Any]:
    return Params.from_file(config).as_dict(quiet=True)


def test_parts_of_speech_are_learnt_from_each_layer_and_the_mix(tmp_path: Path) -> None:
    change = "{ probe+: { num_epochs: 20, batch_size: 16, learning_rate: 0.1 } }"
    config = config_file(tmp_path, "pos", change)
    given = read(config)

    found = run_config(given)

    assert given == read(config)
    rows = {row["name"]: row for row in found["rows"]}
    names = ["most frequent tag", "most frequent tag of each word"]
    assert list(rows) == [*names, "tokens", "LSTM 1", "LSTM 2", "mix"]
    # The biLM is random, but the probe is evaluated on the tokens that it was trained on.
    assert all(rows[name]["accuracy"] > 0.7 for name in list(rows)[2:])
    assert sum(rows["mix"]["weights"]) == pytest.approx(1)
    lines = [
        line.split() for line in (ROOT / CONFIGS["pos"]).read_text(encoding="utf-8").splitlines()
    ]
    tags = [line[1] for line in lines if line and line[0] != "-DOCSTART-"]
    assert rows[names[0]]["accuracy"] == pytest.approx(max(map(tags.count, tags)) / len(tags))


def test_the_layers_are_read_from_a_store_the_next_time(tmp_path: Path) -> None:
    config = config_file(tmp_path, "senses", f"{{ store: '{tmp_path}/layers' }}")

    first, second = (run_config(read(config)) for _ in range(2))

    assert first["rows"] == second["rows"]
    assert any((tmp_path / "layers").iterdir())
