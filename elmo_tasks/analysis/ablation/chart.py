from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elmo_tasks.analysis.ablation.paper import published
from elmo_tasks.analysis.ablation.report import AblationReport
from elmo_tasks.analysis.ablation.result import AblationRow
from elmo_tasks.analysis.ablation.run import percent


def draw(report: AblationReport) -> Figure:
    """
    Draws the means over seeds, with standard deviations. Each variant is a bar, or a curve if the
    runs use several fractions of the training data. The figure needs no screen.
    """
    rows = [row for row in report.rows if row.values]
    fractions = {row.fraction for row in report.rows}
    if len(fractions) > 1:
        figure = Figure(figsize=(7, 5), layout="constrained")
        _draw_curves(figure.subplots(), report, rows)
    else:
        figure = Figure(figsize=(7, 1.6 + 0.45 * max(2, len(rows))), layout="constrained")
        _draw_bars(figure.subplots(), report, rows)
    return figure


def _draw_bars(axes: Axes, report: AblationReport, rows: list[AblationRow]) -> None:
    for index, row in enumerate(rows):
        mean = report.shown(row.mean or 0.0)
        std = report.shown(row.std or 0.0)
        axes.barh(index, mean, height=0.6, color="C0", alpha=0.6)
        if row.std is not None:
            axes.errorbar(mean, index, xerr=std, color="black", capsize=4, linewidth=1)
        axes.annotate(
            report.value_text(row),
            (mean + std, index),
            xytext=(6, 0),
            textcoords="offset points",
            verticalalignment="center",
        )
    axes.set_yticks(range(len(rows)), [row.variant for row in rows])
    axes.invert_yaxis()
    # This leaves room for the numbers at the ends of the bars.
    axes.margins(x=0.22)
    axes.set_xlabel(report.label())
    axes.set_title(_title(report, rows))
    _hide_frame(axes)


def _draw_curves(axes: Axes, report: AblationReport, rows: list[AblationRow]) -> None:
    variants = list(dict.fromkeys(row.variant for row in rows))
    for index, variant in enumerate(variants):
        points = sorted((row for row in rows if row.variant == variant), key=_fraction)
        axes.errorbar(
            list(map(_fraction, points)),
            [report.shown(row.mean or 0.0) for row in points],
            yerr=[report.shown(row.std or 0.0) for row in points],
            color=f"C{index}",
            marker="o",
            capsize=4,
            label=variant,
        )
        _draw_published(axes, report, variant, f"C{index}")
    fractions = sorted({row.fraction for row in report.rows})
    axes.set_xscale("log")
    axes.set_xticks(fractions, [percent(fraction) for fraction in fractions])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("training data")
    axes.set_ylabel(report.label())
    axes.set_title(_title(report, rows))
    _draw_legend(axes, variants)
    _hide_frame(axes)


def _draw_published(axes: Axes, report: AblationReport, variant: str, color: str) -> None:
    fractions = sorted({row.fraction for row in report.rows})
    points = [
        (fraction, paper.value)
        for fraction in fractions
        if (paper := published(report.task, variant, fraction)) is not None
    ]
    # For most tasks the paper has only one point, and no curve.
    if len(points) > 1 and report.is_percent:
        label = _paper_label(variant)
        axes.plot(*zip(*points), color=color, linestyle="--", marker="x", label=label)


def _draw_legend(axes: Axes, variants: list[str]) -> None:
    """Draws a legend that lists a variant's curve in the paper right after the variant's own."""
    handles, labels = axes.get_legend_handles_labels()
    handle_of = dict(zip(labels, handles))
    order = [label for name in variants for label in (name, _paper_label(name))]
    present = [label for label in order if label in handle_of]
    if present:
        axes.legend([handle_of[label] for label in present], present)


def _paper_label(variant: str) -> str:
    return f"{variant}, paper"


def _title(report: AblationReport, rows: list[AblationRow]) -> str:
    fractions = {run.fraction for run in report.runs}
    part = "" if len(fractions) > 1 or 1.0 in fractions else f", {percent(*fractions)} of the data"
    nums_seeds = sorted({len(row.values) for row in rows})
    if not nums_seeds:
        return f"{report.task}{part}: no run has ended yet"
    if nums_seeds == [1]:
        return f"{report.task}{part}: one seed"
    fewest, most = nums_seeds[0], nums_seeds[-1]
    text = str(fewest) if fewest == most else f"{fewest} to {most}"
    return f"{report.task}{part}: mean and standard deviation over {text} seeds"


def _fraction(row: AblationRow) -> float:
    return row.fraction


def _hide_frame(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
