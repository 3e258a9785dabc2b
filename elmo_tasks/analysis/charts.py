"""The charts of reports. Each function draws the JSON of one report."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from elmo_tasks.analysis.ablation.run import fractions_of, label, percent
from elmo_tasks.analysis.neighbors.neighbors import title
from elmo_tasks.analysis.neighbors.occurrences import Occurrence
from elmo_tasks.analysis.tables import layer_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_mixes(mixes: Sequence[dict[str, Any]]) -> "Figure":
    """
    Draws the weights of the layers as in the paper's Figure 2: a row for each layer and a column
    for each mix. The layer of the tokens is at the bottom. The mixes at the input come first.
    """
    mixes = sorted(mixes, key=lambda mix: (mix["place"] != "input", mix["place"]))
    num_layers = max(len(mix["weights"]) for mix in mixes)
    # Shape: (layers, mixes), NaN for layers that a biLM does not have
    weights = numpy.full((num_layers, len(mixes)), numpy.nan)
    for column, mix in enumerate(mixes):
        weights[: len(mix["weights"]), column] = mix["weights"]
    # The size leaves room for the title, and for the names under the columns.
    longest = max(len(mix[key]) for mix in mixes for key in ("model", "place"))
    width = max(4, 2.5 + len(mixes) * max(0.8, 0.1 * longest))
    figure = _figure(width, 1.8 + 0.6 * num_layers)
    axes = figure.subplots()
    largest = float(numpy.nanmax(weights))
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=largest, aspect="auto")
    for layer, column in numpy.argwhere(numpy.isfinite(weights)):
        weight = weights[layer, column]
        # Dark cells have white numbers.
        color = "white" if weight > 0.6 * largest else "black"
        axes.text(column, layer, f"{weight:.2f}", color=color, ha="center", va="center")
    # Layers are drawn from the bottom up.
    axes.invert_yaxis()
    axes.set_xticks(range(len(mixes)), [f"{mix['model']}\n{mix['place']}" for mix in mixes])
    axes.set_yticks(range(num_layers), [layer_name(layer) for layer in range(num_layers)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, label="weight of the layer, $s_j$")
    figure.suptitle("Which layers of the biLM each model mixes")
    return figure


def draw_ablation(report: dict[str, Any]) -> "Figure":
    """
    Draws a curve for each variant: its mean score over the seeds, with the standard deviation,
    against the fraction of the training data.
    """
    rows = [row for row in report["rows"] if row["values"]]
    fractions, scale = fractions_of(report), 100 if report["in_percent"] else 1
    figure = _figure(7, 5)
    axes = figure.subplots()
    for index, variant in enumerate(dict.fromkeys(row["variant"] for row in rows)):
        rows_of_variant = [row for row in rows if row["variant"] == variant]
        points = sorted(rows_of_variant, key=lambda row: row["fraction"])
        axes.errorbar(
            [row["fraction"] for row in points],
            [scale * row["mean"] for row in points],
            yerr=[scale * (row["std"] or 0) for row in points],
            color=f"C{index}",
            marker="o",
            capsize=4,
            label=variant,
        )
    axes.set_xscale("log")
    axes.set_xticks(fractions, [percent(fraction) for fraction in fractions])
    axes.set_xticks([], minor=True)
    axes.set(xlabel="training data", ylabel=label(report))
    axes.set_title(f"{report['task']}: means and standard deviations over the seeds")
    if rows:
        axes.legend()
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_neighbors(report: dict[str, Any]) -> "Figure":
    """
    Draws the occurrences of a word as points in the plane of their two principal components. The
    colour of a point shows its cluster or its cosine to the given occurrence. The legend has the
    most typical occurrence of each cluster.
    """
    figure = _figure(8, 6)
    axes = figure.subplots()
    # A dollar sign in the title must not begin a formula.
    axes.set_title(textwrap.fill(title(report), 70), parse_math=False)
    axes.set(xticks=[], yticks=[])
    axes.set(xlabel="first principal component", ylabel="second principal component")
    for k, group in enumerate(report["groups"], start=1):
        x, y = zip(*(neighbor["point"] for neighbor in group))
        if report["beside"] is None:
            typical = Occurrence(group[0]["words"], group[0]["position"]).line().split()
            name = f"cluster {k}, {len(group):,}: {' '.join(typical)}"
            axes.scatter(x, y, s=14, alpha=0.7, label=name.replace("$", r"\$"))
        else:
            cosines = [neighbor["cosine"] for neighbor in group]
            points = axes.scatter(x, y, s=14, c=cosines, cmap="viridis_r")
            figure.colorbar(points, ax=axes, label="cosine to the given occurrence")
    if report["beside"] is None:
        figure.legend(loc="outside lower left")
    return figure


def _figure(width: float, height: float) -> "Figure":
    # Matplotlib takes long to import, and is not always installed.
    from matplotlib.figure import Figure

    return Figure((width, height), layout="constrained")
