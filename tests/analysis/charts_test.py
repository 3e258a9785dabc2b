from collections.abc import Callable
from typing import Any

import numpy
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.analysis.charts import (
    draw_ablation,
    draw_errors,
    draw_mixes,
    draw_neighbors,
    draw_probe,
)
from elmo_tasks.analysis.errors.report import error_report
from elmo_tasks.analysis.neighbors.neighbors import title
from tests.helpers.ablation_reports import FAILED, ROOT, report, result
from tests.helpers.error_cases import CLASSIFIED, compared_cases, entities
from tests.helpers.neighbors_reports import neighbors_report

PROBED = {
    "title": "pos of dev.txt in a biLM whose name is a path of some length/weights.hdf5",
    "rows": [
        {"name": "most frequent tag", "accuracy": 0.5, "weights": None},
        {"name": "most frequent tag of each word", "accuracy": 0.625, "weights": None},
        {"name": "tokens", "accuracy": 0.75, "weights": None},
        {"name": "mix", "accuracy": 1.0, "weights": [0.25, 0.75]},
    ],
}


def mix(model: str, place: str, weights: list[float]) -> dict[str, Any]:
    return {"model": model, "place": place, "weights": weights}


MIXES = [
    mix("sst/both", "output", [0.2, 0.3, 0.5]),
    mix("sst/both", "input", [0.1, 0.7, 0.2]),
    mix("own", "input", [0.75, 0.25]),
]
LONG_MIXES = [mix(f"{'a rather long name, ' * (k % 3)}{k}", "input", [0.9, 0.1]) for k in range(8)]


def fractions(task: str) -> dict[str, Any]:
    """Returns a report whose means over two seeds are 0.015 above 0.5, 0.6, ..."""
    return report(
        *(
            result(variant, seed, base + 0.1 * k + seed / 100, fraction)
            for variant, base in (("baseline", 0.5), ("both", 0.6))
            for k, fraction in enumerate((0.001, 0.01, 0.1, 1.0))
            for seed in (1, 2)
        ),
        task=task,
    )


RUNS = [Run(ROOT, "both", 1, fraction) for fraction in (0.1, 1.0)]
CLASSES = error_report("our $5 model", "dev.txt", compared_cases(CLASSIFIED))
ENTITIES = error_report("ours", "dev.txt", compared_cases(entities(), "entities"))

CHARTS: list[tuple[Callable[[Any], Figure], Any, list[str]]] = [
    (draw_mixes, MIXES, ["0.10", "0.70", "0.75", "own\ninput", "tokens", "LSTM 2"]),
    (draw_mixes, MIXES[:1], ["0.20", "0.30", "0.50", "sst/both\noutput"]),
    (draw_mixes, LONG_MIXES, ["0.90", "0.10"]),
    (draw_ablation, fractions("snli"), ["0.1 %", "100 %", "validation accuracy, %", "both, paper"]),
    (draw_ablation, report((RUNS[0], FAILED), (RUNS[1], {})), ["10 %"]),
    (draw_probe, PROBED, ["most frequent tag of each word", "100.00", "62.50"]),
    (draw_errors, CLASSES, ["our $5 model on dev.txt: accuracy 70.00 %", "predicted", "right, %"]),
    (draw_errors, ENTITIES, ["ours on dev.txt: F1 66.67 %", "tokens, and how many", "right, %"]),
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


@pytest.mark.parametrize(
    ("task", "curves"),
    [
        ("snli", {"baseline", "both", "baseline, paper", "both, paper"}),
        ("sst", {"baseline", "both"}),
    ],
)
def test_each_variant_has_a_curve_and_that_of_the_paper_if_there_is_one(
    task: str, curves: set[str]
) -> None:
    (axes,) = draw_ablation(fractions(task)).axes

    assert axes.get_xscale() == "log"
    assert set(axes.get_legend_handles_labels()[1]) == curves
    assert axes.lines[0].get_ydata() == pytest.approx([51.5, 61.5, 71.5, 81.5])


def test_a_probe_has_a_bar_for_each_row_and_the_baselines_have_one_colour() -> None:
    (axes,) = draw_probe(PROBED).axes

    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    assert [bar.get_width() for bar in bars] == [50, 62.5, 75, 100]
    colors = [bar.get_facecolor() for bar in bars]
    assert colors[0] == colors[1] and len(set(colors)) == 3


def test_the_confusion_is_drawn_of_classes_alone() -> None:
    of_classes, of_entities = (draw_errors(each).axes for each in (CLASSES, ENTITIES))

    assert (len(of_classes), len(of_entities)) == (4, 3)
    (image,) = of_classes[0].images
    assert numpy.asarray(image.get_array()).tolist() == [[0.8, 0.2], [0.4, 0.6]]


@pytest.mark.parametrize(
    "made", [neighbors_report(4, 2), neighbors_report(3, ranked=True)], ids=["clusters", "ranked"]
)
def test_each_occurrence_is_a_point(made: dict[str, Any]) -> None:
    figure = draw_neighbors(made)

    texts = drawn_texts(figure)
    assert title(made) in {text.replace("\n", " ") for text in texts}
    assert "first principal component, 50% of the variance" in texts
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
