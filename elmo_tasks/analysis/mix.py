from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from elmo_tasks.analysis.tables import layer_name, table
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.archives import describe_model, find_mixes, load_model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The task models of this package whose tasks are in the paper's Figure 2. NER is not in it.
_IN_FIGURE_2 = {"Bcn", "Bidaf", "CorefResolver", "Esim", "SrlTagger"}


class PlacedMix(NamedTuple):
    """
    The mix of a biLM's layers that a model uses at one of its places for ELMo.

    # Parameters

    model: The name of the model.
    place: `input` or `output`, or the mix's name in the model if one place has two mixes.
    weights: The weights s_j of equation (1), from the layer of the tokens to the top; they sum to
        1.
    in_figure_2 (default `False`): Whether the paper's Figure 2 has the model's task.
    """

    model: str
    place: str
    weights: list[float]
    gamma: float
    in_figure_2: bool = False

    @property
    def products(self) -> list[float]:
        """The products gamma * s_j."""
        return [self.gamma * weight for weight in self.weights]

    def as_dict(self) -> dict[str, Any]:
        fields = {**self._asdict(), "products": self.products}
        del fields["in_figure_2"]
        return fields


def read_mixes(name: str, archive: str) -> list[PlacedMix]:
    """
    Returns the mixes of an archive's model. Reports call the model `name`. Raises
    `ConfigurationError` if the model has no mix.
    """
    model = load_model(archive)
    mixes = find_mixes(model)
    if not mixes:
        raise ConfigurationError(
            f"{archive} holds no mix of elmo_tasks, but {describe_model(model)}"
        )
    in_figure_2 = type(model).__name__ in _IN_FIGURE_2
    return [
        PlacedMix(name, place, mix.weights.tolist(), mix.gamma.item(), in_figure_2)
        for place, mix in mixes.items()
    ]


def mix_table(mixes: Sequence[PlacedMix]) -> str:
    """Returns a table with a row for each mix: its weights s_j, gamma, and their products."""
    layers = range(max(len(mix.weights) for mix in mixes))
    columns = ["model", "place", *(f"s{j}" for j in layers), "gamma"]
    columns += [f"gamma s{j}" for j in layers]
    rows = []
    for mix in mixes:
        missing = [""] * (len(layers) - len(mix.weights))
        weights, products = (
            [*(f"{value:.3f}" for value in values), *missing]
            for values in (mix.weights, mix.products)
        )
        rows.append([mix.model, mix.place, *weights, f"{mix.gamma:.3f}", *products])
    names = ", ".join(f"s{j} is the weight of {layer_name(j)}" for j in layers)
    return f"{table(columns, rows)}\n\n{names}."


def draw(mixes: Sequence[PlacedMix]) -> "Figure":
    """
    Draws the weights of the layers as in the paper's Figure 2: a row for each layer and a column
    for each mix. The layer of the tokens is at the bottom. The mixes at the input come first. A
    star marks the tasks that Figure 2 has too.
    """
    from matplotlib.figure import Figure

    mixes = sorted(mixes, key=lambda mix: (mix.place != "input", mix.place))
    num_layers = max(len(mix.weights) for mix in mixes)
    # Shape: (layers, mixes), NaN for layers that a biLM does not have
    weights = numpy.full((num_layers, len(mixes)), numpy.nan)
    for column, mix in enumerate(mixes):
        weights[: len(mix.weights), column] = mix.weights
    largest = numpy.nanmax(weights)
    # The size leaves room for the names under the columns.
    longest = max(len(name) for mix in mixes for name in (mix.model, mix.place))
    size = 2.5 + len(mixes) * max(0.8, 0.1 * longest), 1.8 + 0.6 * num_layers
    figure = Figure(size, layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=largest, aspect="auto", origin="lower")
    for layer, column in numpy.argwhere(numpy.isfinite(weights)):
        weight = weights[layer, column]
        # Dark cells have white numbers.
        color = "white" if weight > 0.6 * largest else "black"
        axes.text(column, layer, f"{weight:.2f}", color=color, ha="center", va="center")
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
