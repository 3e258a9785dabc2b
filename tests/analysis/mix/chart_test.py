import numpy
import pytest

from elmo_tasks.analysis.mix.chart import draw
from elmo_tasks.analysis.mix.placed_mix import PlacedMix
from tests.helpers.charts import drawn_texts

MIXES = [
    PlacedMix("sst/both", "output", [0.2, 0.3, 0.5], 1.5),
    PlacedMix("sst/both", "input", [0.1, 0.7, 0.2], 0.5),
    PlacedMix("own", "input", [0.75, 0.25], 1.0),
]


def test_a_column_is_a_place_and_a_row_a_layer_from_the_tokens_up() -> None:
    axes, _ = draw(MIXES).axes

    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["sst/both\ninput", "own\ninput", "sst/both\noutput"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["tokens", "LSTM 1", "LSTM 2"]
    (image,) = axes.images
    # Layers are drawn from the bottom up; a layer that a biLM does not have is left blank.
    assert image.origin == "lower"
    cells = numpy.ma.asarray(image.get_array()).filled(-1).T.tolist()
    assert cells == [[0.1, 0.7, 0.2], [0.75, 0.25, -1], [0.2, 0.3, 0.5]]
    assert (image.norm.vmin, image.norm.vmax) == (0, 0.75)


def test_a_star_marks_the_tasks_of_the_papers_figure() -> None:
    figure = draw([PlacedMix("SST", "input", [0.5, 0.5], 1.0, in_figure_2=True), *MIXES[2:]])

    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["SST*\ninput", "own\ninput"]
    assert "* also in Figure 2 of Peters et al. 2018" in drawn_texts(figure)


def test_without_a_task_of_the_papers_figure_nothing_is_marked() -> None:
    assert not any("*" in text for text in drawn_texts(draw(MIXES)))


@pytest.mark.parametrize("number", [1, 5])
def test_nothing_is_cut_off_and_every_weight_stands_in_its_cell(number: int) -> None:
    mixes = [
        mix._replace(model=f"{'a rather long name of a model, ' * (k % 2)}{k}")
        for k in range(number)
        for mix in MIXES[:2]
    ]

    texts = drawn_texts(draw(mixes))

    for weight in ("0.10", "0.70", "0.30", "0.50"):
        assert texts.count(weight) >= number
