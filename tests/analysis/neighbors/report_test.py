from typing import Any

import numpy
import pytest
from matplotlib.collections import PathCollection

from elmo_tasks.analysis.neighbors.chart import draw
from elmo_tasks.analysis.neighbors.neighbors import text_of, title
from tests.helpers.charts import drawn_texts

# Two dollars do not make a formula here, and a long word does not fit into every window.
WORDS = "for $ 5 or $_6 one can play at a table of incomprehensibilities and nothing else".split()


def report(*sizes: int, ranked: bool = False) -> dict[str, Any]:
    """Returns a report on clusters of these sizes, with the cosines 1, 0.99, 0.98, ..."""
    groups = [
        [
            {
                "cosine": 1 - 0.01 * n,
                "words": WORDS,
                "place": WORDS.index("play"),
                "point": [float(k), float(n)],
            }
            for n in range(size)
        ]
        for k, size in enumerate(sizes, start=1)
    ]
    return {
        "word": "play",
        "layer": "LSTM 2",
        "bilm": "runs/a/path/of/some/length/to/the/file/model.tar.gz",
        "text": "text.txt",
        "num_sentences": 1234,
        "num_occurrences": 3 * sum(sizes),
        "beside": {"words": ["They", "play"], "place": 1} if ranked else None,
        "groups": groups,
        "mean_cosines": [
            {"clusters": [i, j], "mean_cosine": i / 10 + j / 100}
            for i in range(1, len(sizes) + 1)
            for j in range(i, len(sizes) + 1)
        ],
        "shares_of_variance": [0.5, 0.25],
        "nearest_words_of_layer_0": [{"word": "ball", "cosine": 0.625}],
        "nearest_words_of_file": [{"word": "game", "cosine": 0.5}] if ranked else [],
    }


def sections(text: str) -> dict[str, list[str]]:
    """Returns the cosines of the occurrences below each heading."""
    parts = [part.splitlines() for part in text.split("\n\n")]
    return {head: [line.split()[0] for line in lines] for head, *lines in parts if lines}


def test_the_first_occurrences_of_each_cluster_stand_below_its_heading() -> None:
    text = text_of(report(4, 2), 3)

    assert text.startswith("6 of 18 occurrences of play, compared in layer LSTM 2 of runs/a/path")
    assert "; 1,234 sentences of text.txt\n" in text
    found = sections(text)
    assert found["Cluster 1, 4 occurrences, the most typical first:"] == ["1.000", "0.990", "0.980"]
    assert found["Cluster 2, 2 occurrences, the most typical first:"] == ["1.000", "0.990"]
    assert text.splitlines()[-2:] == [
        "Mean cosines of two occurrences: 0.110 within 1, 0.120 between 1 and 2, 0.220 within 2.",
        "Nearest words in layer 0, which ignores the context: ball 0.62.",
    ]


@pytest.mark.parametrize(
    ("size", "furthest"), [(3, []), (4, ["0.970"]), (8, ["0.950", "0.940", "0.930"])]
)
def test_ranked_occurrences_are_the_nearest_and_those_left_the_furthest(
    size: int, furthest: list[str]
) -> None:
    text = text_of(report(size, ranked=True), 3)

    assert "\nCompared with: They play\n" in text and "Mean cosines" not in text
    assert text.endswith("\nNearest words in the word vectors: game 0.50.")
    found = sections(text)
    assert found["The nearest:"] == ["1.000", "0.990", "0.980"]
    assert found.get("The furthest:", []) == furthest


@pytest.mark.parametrize(
    "made", [report(4, 2), report(*[5] * 8), report(1), report(3, ranked=True)]
)
def test_nothing_of_a_chart_is_cut_off_and_each_group_has_its_points(made: dict[str, Any]) -> None:
    figure = draw(made)

    texts = drawn_texts(figure)
    assert title(made) in {text.replace("\n", " ") for text in texts}
    assert "first principal component, 50% of the variance" in texts
    points = [each for each in figure.axes[0].collections if isinstance(each, PathCollection)]
    for drawn, group in zip(points, made["groups"], strict=True):
        assert numpy.asarray(drawn.get_offsets()).tolist() == [each["point"] for each in group]
    if made["beside"]:
        cosines = [each["cosine"] for each in made["groups"][0]]
        assert numpy.asarray(points[0].get_array()).tolist() == cosines
    else:
        legend = [text for text in texts if text.startswith("cluster ")]
        assert len(legend) == len(made["groups"])
        typical = r"for \$ 5 or \$_6 one can play at a table of incomprehensibilities and"
        assert legend[0].startswith(f"cluster 1, {len(made['groups'][0])}: {typical}")
