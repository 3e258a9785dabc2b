from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from elmo_tasks.analysis.tables import layer_name, table
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.opening import describe_model, find_mixes, load_model

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def read_mixes(name: str, archive: str) -> list[dict[str, Any]]:
    """
    Returns the mixes of an archive's model, one for each place where ELMo joins the model.

    # Returns

    For each mix, the `name` of the model as `model`; the `place`, which is `input` or `output`, or
    the mix's name in the model if one place has two mixes; the `weights` s_j of equation (1), from
    the layer of the tokens to the top, with sum 1; `gamma`; and the `products` gamma * s_j.

    # Raises

    `ConfigurationError`: The model has no mix.
    """
    model = load_model(archive)
    mixes = find_mixes(model)
    if not mixes:
        raise ConfigurationError(
            f"{archive} holds no mix of elmo_tasks, but {describe_model(model)}"
        )
    found = {place: (mix.weights.tolist(), mix.gamma.item()) for place, mix in mixes.items()}
    return [
        {
            "model": name,
            "place": place,
            "weights": weights,
            "gamma": gamma,
            "products": [gamma * weight for weight in weights],
        }
        for place, (weights, gamma) in found.items()
    ]


def mix_table(mixes: Sequence[dict[str, Any]]) -> str:
    """Returns a table with a row for each mix: its weights s_j, gamma, and their products."""
    layers = range(_num_layers(mixes))
    columns = ["model", "place", *(f"s{j}" for j in layers), "gamma"]
    columns += [f"gamma s{j}" for j in layers]
    rows = []
    for mix in mixes:
        missing = [""] * (len(layers) - len(mix["weights"]))
        weights, products = (
            [*(f"{value:.3f}" for value in mix[key]), *missing] for key in ("weights", "products")
        )
        rows.append([mix["model"], mix["place"], *weights, f"{mix['gamma']:.3f}", *products])
    names = ", ".join(f"s{j} is the weight of {layer_name(j)}" for j in layers)
    return f"{table(columns, rows)}\n\n{names}."


def draw(mixes: Sequence[dict[str, Any]]) -> "Figure":
    """
    Draws the weights of the layers as in the paper's Figure 2: a row for each layer and a column
    for each mix. The layer of the tokens is at the bottom. The mixes at the input come first.
    """
    from matplotlib.figure import Figure

    mixes = sorted(mixes, key=lambda mix: (mix["place"] != "input", mix["place"]))
    num_layers = _num_layers(mixes)
    # Shape: (layers, mixes), NaN for layers that a biLM does not have
    weights = numpy.full((num_layers, len(mixes)), numpy.nan)
    for column, mix in enumerate(mixes):
        weights[: len(mix["weights"]), column] = mix["weights"]
    largest = numpy.nanmax(weights)
    # The size leaves room for the names under the columns.
    longest = max(len(mix[key]) for mix in mixes for key in ("model", "place"))
    size = 2.5 + len(mixes) * max(0.8, 0.1 * longest), 1.8 + 0.6 * num_layers
    figure = Figure(size, layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=largest, aspect="auto", origin="lower")
    for layer, column in numpy.argwhere(numpy.isfinite(weights)):
        weight = weights[layer, column]
        # Dark cells have white numbers.
        color = "white" if weight > 0.6 * largest else "black"
        axes.text(column, layer, f"{weight:.2f}", color=color, ha="center", va="center")
    axes.set_xticks(range(len(mixes)), [f"{mix['model']}\n{mix['place']}" for mix in mixes])
    axes.set_yticks(range(num_layers), [layer_name(layer) for layer in range(num_layers)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, label="weight of the layer, $s_j$")
    figure.suptitle("Which layers of the biLM each model mixes")
    return figure


def _num_layers(mixes: Sequence[dict[str, Any]]) -> int:
    return max(len(mix["weights"]) for mix in mixes)
