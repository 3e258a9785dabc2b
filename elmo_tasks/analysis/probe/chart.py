import textwrap

from matplotlib.figure import Figure

from elmo_tasks.analysis.probe.report import ProbeReport

_BASELINE, _LAYER, _MIX = "0.75", "C0", "C1"

# The maximum number of characters in a line of the title.
_TITLE_WIDTH = 48


def draw(report: ProbeReport) -> Figure:
    """Draws a bar for each row. Baselines are grey, layers have one colour, and the mix another."""
    figure = Figure((7, 1.4 + 0.42 * len(report.rows)), layout="constrained")
    axes = figure.subplots()
    percents = [100 * row.accuracy for row in report.rows]
    colors = [_BASELINE] * 2 + [_LAYER if row.weights is None else _MIX for row in report.rows[2:]]
    bars = axes.barh([row.name for row in report.rows], percents, height=0.65, color=colors)
    axes.bar_label(bars, [f"{percent:.2f}" for percent in percents], padding=4)
    axes.invert_yaxis()
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("accuracy, %")
    axes.set_title(textwrap.fill(report.title, _TITLE_WIDTH), parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
