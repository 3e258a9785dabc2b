from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

# Matplotlib takes long to import, and is needed for a chart alone.
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(report: dict[str, Any]) -> "Figure":
    """
    Draws what `error_report` returned: the score by length, the score by share of unknown words,
    the calibration, and for classes the confusion matrix.
    """
    from matplotlib.figure import Figure

    has_classes = "confusion" in report
    figure = Figure((11, 8 if has_classes else 3.8), layout="constrained")
    metric = report["metric"]
    title = f"{report['model']} on {report['data']}: {metric} {100 * report['score']:.2f} %"
    figure.suptitle(title, parse_math=False)
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
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), count in numpy.ndenumerate(counts):
        color = "white" if shares[row, column] > 0.6 else "black"
        axes.text(column, row, f"{count:,}", color=color, ha="center", va="center")
    names = [name.replace("$", r"\$") for name in confusion]
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
