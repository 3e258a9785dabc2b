import pytest

from elmo_tasks.analysis.neighbors.neighbors import text_of
from tests.helpers.neighbors_reports import neighbors_report


def sections(text: str) -> dict[str, list[str]]:
    """Returns the cosines of the occurrences below each heading."""
    parts = [part.splitlines() for part in text.split("\n\n")]
    return {head: [line.split()[0] for line in lines] for head, *lines in parts if lines}


def test_the_first_occurrences_of_each_cluster_stand_below_its_heading() -> None:
    text = text_of(neighbors_report(4, 2), 3)

    assert text.startswith("6 of 18 occurrences of play, compared in layer LSTM 2 of runs/a/path")
    assert "; 1,234 sentences of text.txt\n" in text
    found = sections(text)
    assert found["Cluster 1, 4 occurrences, the most typical first:"] == ["1.000", "0.990", "0.980"]
    assert found["Cluster 2, 2 occurrences, the most typical first:"] == ["1.000", "0.990"]
    assert text.endswith("\nNearest words in layer 0, which ignores the context: ball 0.62.")


@pytest.mark.parametrize(
    ("size", "furthest"), [(3, []), (4, ["0.970"]), (8, ["0.950", "0.940", "0.930"])]
)
def test_ranked_occurrences_are_the_nearest_and_those_left_the_furthest(
    size: int, furthest: list[str]
) -> None:
    text = text_of(neighbors_report(size, ranked=True), 3)

    assert "\nCompared with: They play\n" in text
    assert text.endswith("\nNearest words in the word vectors: game 0.50.")
    found = sections(text)
    assert found["The nearest:"] == ["1.000", "0.990", "0.980"]
    assert found.get("The furthest:", []) == furthest
