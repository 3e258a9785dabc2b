"""The charts of reports. Each function draws the JSON of one report."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from elmo_tasks.analysis.ablation.paper import published
from elmo_tasks.analysis.ablation.report import fractions_of, label
from elmo_tasks.analysis.ablation.run import percent
from elmo_tasks.analysis.neighbors.neighbors import title
from elmo_tasks.analysis.neighbors.occurrences import Occurrence
from elmo_tasks.analysis.tables import layer_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage


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
    image = _heat_map(axes, weights, "{:.2f}", weights, float(numpy.nanmax(weights)))
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
    Draws a curve for each variant over the fractions of the training data: the means over seeds,
    with standard deviations, and beside them the paper's curve as a dashed line.
    """
    rows = [row for row in report["rows"] if row["values"]]
    fractions, scale = fractions_of(report), 100 if report["in_percent"] else 1
    figure = _figure(7, 5)
    axes = figure.subplots()
    for index, variant in enumerate(dict.fromkeys(row["variant"] for row in rows)):
        own = [row for row in rows if row["variant"] == variant]
        points = sorted(own, key=lambda row: row["fraction"])
        axes.errorbar(
            [row["fraction"] for row in points],
            [scale * row["mean"] for row in points],
            yerr=[scale * (row["std"] or 0) for row in points],
            color=f"C{index}",
            marker="o",
            capsize=4,
            label=variant,
        )
        papers = [published(report["task"], variant, fraction) for fraction in fractions]
        of_paper = [(f, paper.value) for f, paper in zip(fractions, papers) if paper is not None]
        # For most tasks the paper has only one point, and no curve.
        if len(of_paper) > 1 and report["in_percent"]:
            axes.plot(*zip(*of_paper), f"C{index}x--", label=f"{variant}, paper")
    axes.set_xscale("log")
    axes.set_xticks(fractions, [percent(fraction) for fraction in fractions])
    axes.set_xticks([], minor=True)
    axes.set(xlabel="training data", ylabel=label(report))
    counts = sorted({len(row["values"]) for row in rows}) or [0]
    seeds = "one seed" if counts == [1] else f"mean and standard deviation of {counts[-1]} seeds"
    axes.set_title(f"{report['task']}: {seeds}")
    if rows:
        axes.legend()
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_neighbors(report: dict[str, Any]) -> "Figure":
    """
    Draws the occurrences of a word as points in the plane of their two principal components. The
    colour of a point shows its cluster, whose most typical occurrence is in the legend, or its
    cosine to the wanted occurrence.
    """
    figure = _figure(8, 6)
    axes = figure.subplots()
    _set_title(axes, title(report), 70)
    orders = zip((axes.xaxis, axes.yaxis), ("first", "second"), report["shares_of_variance"])
    for axis, order, share in orders:
        axis.set_label_text(f"{order} principal component, {share:.0%} of the variance")
        axis.set_ticks([])
    for k, group in enumerate(report["groups"], start=1):
        x, y = zip(*(each["point"] for each in group))
        if report["beside"] is None:
            typical = Occurrence(group[0]["words"], group[0]["place"]).line().split()
            name = _escaped(f"cluster {k}, {len(group):,}: {' '.join(typical)}")
            axes.scatter(x, y, s=14, alpha=0.7, label=name)
        else:
            cosines = [each["cosine"] for each in group]
            points = axes.scatter(x, y, s=14, c=cosines, cmap="viridis_r")
            figure.colorbar(points, ax=axes, label="cosine to the given occurrence")
    if report["beside"] is None:
        figure.legend(loc="outside lower left")
    return figure


def draw_probe(report: dict[str, Any]) -> "Figure":
    """Draws a bar for each row: baselines in grey, layers in one colour, the mix in another."""
    rows = report["rows"]
    figure = _figure(7, 1.4 + 0.42 * len(rows))
    axes = figure.subplots()
    percents = [100 * row["accuracy"] for row in rows]
    colors = ["0.75"] * 2 + ["C0" if row["weights"] is None else "C1" for row in rows[2:]]
    bars = axes.barh([row["name"] for row in rows], percents, height=0.65, color=colors)
    axes.bar_label(bars, [f"{percent:.2f}" for percent in percents], padding=4)
    axes.invert_yaxis()
    axes.set(xlim=(0, 112), xticks=range(0, 101, 20), xlabel="accuracy, %")
    _set_title(axes, report["title"], 48)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_errors(report: dict[str, Any]) -> "Figure":
    """
    Draws the score by length, the score by share of unknown words, the calibration, and for classes
    the confusion matrix.
    """
    has_classes = "confusion" in report
    figure = _figure(11, 8 if has_classes else 3.8)
    metric = report["metric"]
    about = f"{report['model']} on {report['data']}: {metric} {100 * report['score']:.2f} %"
    figure.suptitle(about, parse_math=False)
    panels = list(figure.subplots(*((2, 2) if has_classes else (1, 3))).flat)
    if has_classes:
        _draw_confusion(panels.pop(0), report["confusion"])
    _draw_groups(panels[0], "tokens", metric, report["by_length"])
    _draw_groups(panels[1], "share of unknown words", metric, report["by_unknown"])
    _draw_calibration(panels[2], report)
    return figure


def _draw_confusion(axes: "Axes", confusion: dict[str, dict[str, int]]) -> None:
    counts = numpy.array([list(row.values()) for row in confusion.values()])
    shares = counts / numpy.maximum(counts.sum(axis=1, keepdims=True), 1)
    _heat_map(axes, shares, "{:,}", counts)
    names = [_escaped(name) for name in confusion]
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="predicted", ylabel="expected")


def _draw_groups(axes: "Axes", name: str, metric: str, groups: Sequence[dict[str, Any]]) -> None:
    names = [f"{each['name']}\n{each['num_cases']:,}" for each in groups]
    percents = [100 * each["score"] for each in groups]
    bars = axes.bar(names, percents, 0.6)
    axes.bar_label(bars, [f"{percent:.1f}" for percent in percents], padding=2)
    axes.set(xlabel=f"{name}, and how many cases", ylabel=f"{metric}, %", ylim=(0, 110))


def _draw_calibration(axes: "Axes", report: dict[str, Any]) -> None:
    bins = report["calibration"]
    axes.plot([0, 100], [0, 100], color="0.65", linestyle="--", label="as often as said")
    axes.plot(
        [100 * each["confidence"] for each in bins],
        [100 * each["right"] for each in bins],
        marker="o",
        label=f"calibration error {100 * report['calibration_error']:.1f} %",
    )
    axes.set(xlabel="confidence, %", ylabel="right, %", xlim=(0, 100), ylim=(0, 100))
    axes.legend()


def _figure(width: float, height: float) -> "Figure":
    # Matplotlib takes long to import, and is not always installed.
    from matplotlib.figure import Figure

    return Figure((width, height), layout="constrained")


def _heat_map(
    axes: "Axes", cells: numpy.ndarray, shown: str, values: numpy.ndarray, largest: float = 1.0
) -> "AxesImage":
    """
    Colours cells by their numbers, which are 0 to `largest`, and writes the value of each into it,
    in the format `shown`. Cells that are NaN stay empty.
    """
    image = axes.imshow(cells, cmap="Blues", vmin=0, vmax=largest, aspect="auto")
    for row, column in numpy.argwhere(numpy.isfinite(cells)):
        # Dark cells have white numbers.
        color = "white" if cells[row, column] > 0.6 * largest else "black"
        text = shown.format(values[row, column])
        axes.text(column, row, text, color=color, ha="center", va="center")
    return image


def _set_title(axes: "Axes", text: str, width: int) -> None:
    """Sets a title in lines of `width` characters. A dollar sign in it begins no formula."""
    axes.set_title(textwrap.fill(text, width), parse_math=False)


def _escaped(text: str) -> str:
    """Returns a text in which no dollar sign begins a formula."""
    return text.replace("$", r"\$")
