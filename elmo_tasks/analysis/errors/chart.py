from collections.abc import Sequence

import numpy
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elmo_tasks.analysis.errors.report import ErrorReport, Group

# Shares above this are written in white, because their cells are dark.
_DARK = 0.6


def draw(report: ErrorReport) -> Figure:
    """
    Draws four panels:

    - the confusion matrix, or precision and recall of each type or role, or the number of links of
      each kind, depending on the task (answers to questions have no such panel);
    - the score by length;
    - the score by share of unknown words;
    - the calibration.
    """
    judge = report.judged.judge
    draw_first = _FIRST_PANELS.get(judge.kind)
    figure = Figure((11, 8 if draw_first else 3.8), layout="constrained")
    title = f"{report.model} on {report.data}: {judge.metric} {100 * report.score():.2f} %"
    figure.suptitle(title, parse_math=False)
    if draw_first:
        first, *others = figure.subplots(2, 2).flat
        draw_first(first, report)
    else:
        others = list(figure.subplots(1, 3).flat)
    _draw_groups(others[0], "tokens", judge.metric, report.by_length())
    _draw_groups(others[1], "share of unknown words", judge.metric, report.by_unknown())
    _draw_calibration(others[2], report)
    return figure


def _draw_confusion(axes: Axes, report: ErrorReport) -> None:
    confusion = report.confusion()
    counts = numpy.array([list(row.values()) for row in confusion.values()])
    shares = counts / numpy.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), count in numpy.ndenumerate(counts):
        color = "white" if shares[row, column] > _DARK else "black"
        axes.text(column, row, f"{count:,}", color=color, ha="center", va="center")
    names = [name.replace("$", r"\$") for name in confusion]
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="predicted", ylabel="expected")


def _draw_types(axes: Axes, report: ErrorReport) -> None:
    types = report.types()
    positions = numpy.arange(len(types))
    precisions = [100 * each.precision for each in types]
    recalls = [100 * each.recall for each in types]
    axes.bar(positions - 0.2, precisions, 0.4, label="precision")
    axes.bar(positions + 0.2, recalls, 0.4, label="recall", color="0.65")
    names = [(each.type or "entity").replace("$", r"\$") for each in types]
    axes.set_xticks(positions, [f"{name}\n{each.expected:,}" for name, each in zip(names, types)])
    axes.set(xlabel="type, and how many are expected", ylabel="%", ylim=(0, 100))
    axes.legend()


def _draw_links(axes: Axes, report: ErrorReport) -> None:
    links = report.links()
    names = [name.replace(": ", ":\n") for name in links]
    axes.bar_label(axes.barh(names, list(links.values()), 0.6), padding=2)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set(xlabel="links between mentions")


_FIRST_PANELS = {
    "classes": _draw_confusion,
    "entities": _draw_types,
    "labels": _draw_types,
    "tags": _draw_types,
    "roles": _draw_types,
    "links": _draw_links,
}


def _draw_groups(axes: Axes, name: str, metric: str, groups: Sequence[Group]) -> None:
    bars = axes.bar(
        [f"{each.name}\n{each.num_cases:,}" for each in groups],
        [100 * each.score for each in groups],
        0.6,
    )
    axes.bar_label(bars, [f"{100 * each.score:.1f}" for each in groups], padding=2)
    axes.set(xlabel=f"{name}, and how many cases", ylabel=f"{metric}, %", ylim=(0, 110))


def _draw_calibration(axes: Axes, report: ErrorReport) -> None:
    bins = report.bins()
    axes.plot([0, 100], [0, 100], color="0.65", linestyle="--", label="as often as said")
    axes.plot(
        [100 * each.confidence for each in bins],
        [100 * each.right for each in bins],
        marker="o",
        label=f"calibration error {100 * report.calibration_error():.1f} %",
    )
    axes.set(xlabel="confidence, %", ylabel="right, %", xlim=(0, 100), ylim=(0, 100))
    axes.legend()
