from collections.abc import Sequence

import numpy
from matplotlib.figure import Figure

from elmo_tasks.analysis.mix.placed_mix import PlacedMix
from elmo_tasks.analysis.tables import layer_name

# Weights above this share of the largest weight are written in white.
_DARK = 0.6


def draw(mixes: Sequence[PlacedMix]) -> Figure:
    """
    Draws the weights of the layers as in the paper's Figure 2: a row for each layer and a column
    for each mix. The layer of the tokens is at the bottom. The mixes at the input come first. A
    star marks the tasks that Figure 2 has too.
    """
    mixes = sorted(mixes, key=lambda mix: (mix.place != "input", mix.place))
    num_layers = max(len(mix.weights) for mix in mixes)
    # Shape: (layers, mixes), NaN for layers that a biLM does not have
    weights = numpy.full((num_layers, len(mixes)), numpy.nan)
    for column, mix in enumerate(mixes):
        weights[: len(mix.weights), column] = mix.weights
    largest = numpy.nanmax(weights)
    figure = Figure(_size(mixes, num_layers), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=largest, aspect="auto", origin="lower")
    for layer, column in numpy.argwhere(numpy.isfinite(weights)):
        weight = weights[layer, column]
        axes.text(
            column,
            layer,
            f"{weight:.2f}",
            color="white" if weight > _DARK * largest else "black",
            horizontalalignment="center",
            verticalalignment="center",
        )
    labels = [f"{mix.model}{'*' if mix.in_figure_2 else ''}\n{mix.place}" for mix in mixes]
    axes.set_xticks(range(len(mixes)), labels)
    axes.set_yticks(range(num_layers), [layer_name(layer) for layer in range(num_layers)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, label="weight of the layer, $s_j$")
    figure.suptitle("Which layers of the biLM each model mixes")
    if any(mix.in_figure_2 for mix in mixes):
        figure.supxlabel("* also in Figure 2 of Peters et al. 2018", fontsize="small")
    return figure


def _size(mixes: Sequence[PlacedMix], num_layers: int) -> tuple[float, float]:
    """Returns the size in inches, with room for the names under the columns."""
    longest = max(len(name) for mix in mixes for name in (mix.model, mix.place))
    return 2.5 + len(mixes) * max(0.8, 0.1 * longest), 1.8 + 0.6 * num_layers
