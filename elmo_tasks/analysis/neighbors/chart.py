"""The chart of what `neighbors` returned."""

import textwrap
from typing import TYPE_CHECKING, Any

from elmo_tasks.analysis.neighbors.neighbors import title
from elmo_tasks.analysis.neighbors.occurrences import Occurrence

# Matplotlib takes long to import, and is needed for a chart alone.
if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The maximum number of characters in a line of the title of a chart.
_TITLE_WIDTH = 70


def draw(report: dict[str, Any]) -> "Figure":
    """
    Draws the occurrences of a word as points in the plane of their two principal components. The
    colour of a point shows its cluster, whose most typical occurrence is in the legend, or its
    cosine to the wanted occurrence.
    """
    from matplotlib.figure import Figure

    figure = Figure((8, 6), layout="constrained")
    axes = figure.subplots()
    # A dollar sign in a text must not begin a formula.
    axes.set_title(textwrap.fill(title(report), _TITLE_WIDTH), parse_math=False)
    orders = zip((axes.xaxis, axes.yaxis), ("first", "second"), report["shares_of_variance"])
    for axis, order, share in orders:
        axis.set_label_text(f"{order} principal component, {share:.0%} of the variance")
        axis.set_ticks([])
    if report["beside"] is None:
        for k, group in enumerate(report["groups"], start=1):
            typical = Occurrence(group[0]["words"], group[0]["place"]).line().split()
            x, y = zip(*(each["point"] for each in group))
            axes.scatter(
                x,
                y,
                s=14,
                alpha=0.7,
                label=f"cluster {k}, {len(group):,}: {' '.join(typical)}".replace("$", r"\$"),
            )
        figure.legend(loc="outside lower left")
    else:
        (ranked,) = report["groups"]
        cosines = [each["cosine"] for each in ranked]
        x, y = zip(*(each["point"] for each in ranked))
        shown = axes.scatter(x, y, s=14, c=cosines, cmap="viridis_r")
        figure.colorbar(shown, ax=axes, label="cosine to the given occurrence")
    return figure
