from collections.abc import Callable
from typing import Any

import numpy
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.analysis.charts import draw_ablation, draw_mixes, draw_neighbors
from elmo_tasks.analysis.neighbors.neighbors import title
from tests.helpers.ablation_reports import FAILED, ROOT, report, result
from tests.helpers.neighbors_reports import neighbors_report


def mix(model: str, place: str, weights: list[float]) -> dict[str, Any]:
    return {"model": model, "place": place, "weights": weights}


MIXES = [
    mix("sst/both", "output", [0.2, 0.3, 0.5]),
    mix("sst/both", "input", [0.1, 0.7, 0.2]),
    mix("own", "input", [0.75, 0.25]),
]
LONG_MIXES = [mix(f"{'a rather long name, ' * (k % 3)}{k}", "input", [0.9, 0.1]) for k in range(8)]


# The means over two seeds are 0.015 above 0.5, 0.6, ...
FRACTIONS = report(
    *(
        result(variant, seed, base + 0.1 * k + seed / 100, fraction)
        for variant, base in (("baseline", 0.5), ("both", 0.6))
        for k, fraction in enumerate((0.001, 0.01, 0.1, 1.0))
        for seed in (1, 2)
    )
)
RUNS = [Run(ROOT, "both", 1, fraction) for fraction in (0.1, 1.0)]

CHARTS: list[tuple[Callable[[Any], Figure], Any, list[str]]] = [
    (draw_mixes, MIXES, ["0.10", "0.70", "0.75", "own\ninput", "tokens", "LSTM 2"]),
    (draw_mixes, MIXES[:1], ["0.20", "0.30", "0.50", "sst/both\noutput"]),
    (draw_mixes, LONG_MIXES, ["0.90", "0.10"]),
    (draw_ablation, FRACTIONS, ["0.1 %", "100 %", "validation accuracy, %", "both"]),
    (draw_ablation, report((RUNS[0], FAILED), (RUNS[1], {})), ["10 %"]),
    (draw_neighbors, neighbors_report(1), ["1 of 3 occurrences of play, "]),
    (draw_neighbors, neighbors_report(*[5] * 8), ["cluster 1, 5: ", "cluster 8, 5: "]),
]


def drawn_texts(figure: Figure) -> list[str]:
    """Draws a figure, checks that nothing is cut off, and returns its texts."""
    FigureCanvasAgg(figure).draw()
    # The bounding box of everything that is drawn, in inches.
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


@pytest.mark.parametrize(("draw", "made", "expected"), CHARTS)
def test_a_chart_has_its_texts_and_nothing_is_cut_off(
    draw: Callable[[Any], Figure], made: Any, expected: list[str]
) -> None:
    texts = drawn_texts(draw(made))

    for text in expected:
        assert any(each.startswith(text) for each in texts), text


def test_a_column_is_a_place_and_a_row_a_layer_from_the_tokens_up() -> None:
    axes, _ = draw_mixes(MIXES).axes

    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["sst/both\ninput", "own\ninput", "sst/both\noutput"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["tokens", "LSTM 1", "LSTM 2"]
    (image,) = axes.images
    # The first layer is at the bottom; a layer that a biLM does not have is left blank.
    bottom, top = axes.get_ylim()
    assert bottom < top
    cells = numpy.ma.asarray(image.get_array()).filled(-1).T.tolist()
    assert cells == [[0.1, 0.7, 0.2], [0.75, 0.25, -1], [0.2, 0.3, 0.5]]
    assert (image.norm.vmin, image.norm.vmax) == (0, 0.75)


def test_each_variant_has_a_curve() -> None:
    (axes,) = draw_ablation(FRACTIONS).axes

    assert axes.get_xscale() == "log"
    assert axes.get_legend_handles_labels()[1] == ["baseline", "both"]
    assert axes.lines[0].get_ydata() == pytest.approx([51.5, 61.5, 71.5, 81.5])


@pytest.mark.parametrize(
    "made", [neighbors_report(4, 2), neighbors_report(3, ranked=True)], ids=["clusters", "ranked"]
)
def test_each_occurrence_is_a_point(made: dict[str, Any]) -> None:
    figure = draw_neighbors(made)

    texts = drawn_texts(figure)
    assert title(made) in {text.replace("\n", " ") for text in texts}
    assert "first principal component" in texts
    points = [each for each in figure.axes[0].collections if isinstance(each, PathCollection)]
    for drawn, group in zip(points, made["groups"], strict=True):
        assert numpy.asarray(drawn.get_offsets()).tolist() == [each["point"] for each in group]
    legend = [text for text in texts if text.startswith("cluster ")]
    if made["beside"]:
        cosines = [each["cosine"] for each in made["groups"][0]]
        assert numpy.asarray(points[0].get_array()).tolist() == cosines and not legend
    else:
        typical = r"for \$ 5 or \$_6 one can play at a table of incomprehensibilities and"
        assert legend == [f"cluster 1, 4: {typical}", f"cluster 2, 2: {typical}"]
