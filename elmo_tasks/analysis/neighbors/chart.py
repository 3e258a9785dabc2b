import textwrap
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elmo_tasks.analysis.neighbors.report import NeighborsReport
from elmo_tasks.analysis.neighbors.vectors import principal_plane

# At most five lines are written for each section. A line is 0.17 inches high, its text 8 points.
_NUM_LINES, _LINE, _POINTS = 5, 0.17, 8
# The maximum numbers of characters in a line of the title, and in a line of words of layer 0.
_TITLE_WIDTH, _WORDS_WIDTH = 70, 95

_COSINES = colormaps["viridis_r"]


def draw(report: NeighborsReport) -> Figure:
    """
    Draws the occurrences of a word as points in the plane of their two principal components. The
    colour of a point shows its cluster, or its cosine to the wanted occurrence. The first lines of
    each section of the report are written below the plane.
    """
    sections = report.sections(_NUM_LINES)
    without_context = textwrap.wrap(report.without_context(), _WORDS_WIDTH, break_on_hyphens=False)
    num_lines = sum(len(shown) + 2 for _, shown in sections) + len(without_context)
    figure = Figure((8, 5 + _LINE * num_lines), layout="constrained")
    plane, below = figure.subplots(2, height_ratios=[5, _LINE * num_lines])
    colors = _draw_plane(plane, report)
    row = 0
    for (heading, shown), color in zip(sections, colors):
        _write(below, row, heading, color, weight="bold")
        for offset, (_, occurrence) in enumerate(shown, start=1):
            _write(below, row + offset, occurrence.line(), color, family="monospace")
        row += len(shown) + 2
    for offset, line in enumerate(without_context):
        _write(below, row + offset, line, "black")
    below.set_ylim(num_lines - 0.5, -0.5)
    below.axis("off")
    return figure


def _draw_plane(axes: Axes, report: NeighborsReport) -> list:
    """Draws the points, and returns one colour for the text of each section."""
    points, shares = principal_plane(report.vectors)
    axes.set_title(textwrap.fill(report.title(), _TITLE_WIDTH), parse_math=False)
    for axis, order, share in zip((axes.xaxis, axes.yaxis), ("first", "second"), shares):
        axis.set_label_text(f"{order} principal component, {share:.0%} of the variance")
        axis.set_ticks([])
    if report.wanted is None:
        colors = [f"C{index}" for index in range(len(report.groups))]
        for k, (group, color) in enumerate(zip(report.groups, colors), start=1):
            x, y = points[group.members].T
            axes.scatter(x, y, s=14, color=color, alpha=0.7, label=f"cluster {k}")
        axes.legend()
        return colors
    (group,) = report.groups
    x, y = points[group.members].T
    shown = axes.scatter(x, y, s=14, c=group.cosines, cmap=_COSINES)
    axes.figure.colorbar(shown, ax=axes, label="cosine to the given occurrence")
    return [_COSINES(0.999), _COSINES(0.2)]


def _write(axes: Axes, row: int, text: str, color: Any, **style: Any) -> None:
    axes.text(
        0,
        row,
        text,
        color=color,
        fontsize=_POINTS,
        verticalalignment="center",
        # A dollar sign in a text must not begin a formula.
        parse_math=False,
        **style,
    )
