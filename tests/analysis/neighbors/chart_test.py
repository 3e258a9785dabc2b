from collections import Counter
from itertools import pairwise

import numpy
import pytest
import torch
from torch.nn.functional import normalize

from elmo_tasks.analysis.neighbors.chart import draw
from elmo_tasks.analysis.neighbors.occurrences import Corpus, Occurrence
from elmo_tasks.analysis.neighbors.report import NeighborsReport
from elmo_tasks.analysis.neighbors.vectors import cluster, rank
from tests.helpers.charts import drawn_texts

# Two dollars do not make a formula here, and a long word does not fit into every window.
WORDS = "for $ 5 or $_6 one can play at a table of incomprehensibilities and nothing else".split()


def report(
    num_occurrences: int = 9, num_groups: int = 2, ranked: bool = False, num_similar: int = 8
) -> NeighborsReport:
    random = torch.Generator().manual_seed(0)
    vectors = normalize(torch.randn(num_occurrences, 6, generator=random))
    occurrences = [Occurrence([*WORDS, str(k)], WORDS.index("play")) for k in range(len(vectors))]
    similar = [(f"similar-word-{k}", 0.5) for k in range(num_similar)]
    corpus = Corpus(occurrences, 3 * num_occurrences, 100, Counter())
    groups = [rank(vectors, vectors[0])] if ranked else cluster(vectors, num_groups)
    wanted = (Occurrence(["play", "it"], 0), vectors[0]) if ranked else None
    bilm = "runs/a/path/of/some/length/model.tar.gz"
    return NeighborsReport(
        "play", "LSTM 2", bilm, "text.txt", corpus, vectors, groups, similar, wanted
    )


@pytest.mark.parametrize(
    "made",
    [report(), report(40, 8), report(1), report(3, ranked=True), report(num_similar=50)],
)
def test_nothing_is_cut_off_and_the_lines_are_those_of_the_report(made: NeighborsReport) -> None:
    texts = drawn_texts(draw(made))

    assert made.title() in {text.replace("\n", " ") for text in texts}
    assert made.without_context() in " ".join(texts)
    for heading, shown in made.sections(5):
        assert heading in texts
        assert {occurrence.line() for _, occurrence in shown} <= set(texts)


def test_no_line_lies_on_another() -> None:
    figure = draw(report(num_similar=50))
    drawn_texts(figure)

    _, below = figure.axes

    # Each box has one blank pixel on either side.
    boxes = [text.get_window_extent().padded(-1) for text in below.texts]
    assert all(lower.y1 < upper.y0 for upper, lower in pairwise(boxes))


def test_points_are_in_the_colours_of_their_clusters() -> None:
    made = report()
    plane, below = draw(made).axes

    assert [len(numpy.asarray(points.get_offsets())) for points in plane.collections] == [
        len(group.members) for group in made.groups
    ]
    headings = {text.get_text(): text.get_color() for text in below.texts}
    colors = [headings[heading] for heading, _ in made.sections(5)]
    assert colors == ["C0", "C1"]


def test_the_plane_is_that_of_the_two_principal_components() -> None:
    made = report(30)
    plane, _ = draw(made).axes
    centered = (made.vectors - made.vectors.mean(0)).double().numpy()
    # The two largest variances over all directions.
    largest = sorted(torch.linalg.eigvalsh(torch.tensor(centered.T @ centered)).tolist())[-2:]

    points = torch.cat([torch.tensor(group.get_offsets()) for group in plane.collections])

    assert points.square().sum(0).tolist() == pytest.approx(largest[::-1])
    share = largest[1] / (centered**2).sum()
    assert plane.get_xlabel() == f"first principal component, {share:.0%} of the variance"


def test_ranked_points_are_coloured_by_their_cosines() -> None:
    made = report(20, ranked=True)

    plane = draw(made).axes[0]

    (points,) = plane.collections
    assert numpy.asarray(points.get_array()).tolist() == made.groups[0].cosines
