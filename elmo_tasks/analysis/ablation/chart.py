from typing import TYPE_CHECKING

from elmo_tasks.analysis.ablation.paper import published
from elmo_tasks.analysis.ablation.report import Report, fractions_of, label
from elmo_tasks.analysis.ablation.run import percent

# Matplotlib takes long to import, and is needed for a chart alone.
if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(report: Report) -> "Figure":
    """
    Draws a curve for each variant over the fractions of the training data: the means over seeds,
    with standard deviations, and beside them the paper's curve as a dashed line.
    """
    from matplotlib.figure import Figure

    rows = [row for row in report["rows"] if row["values"]]
    fractions, scale = fractions_of(report), 100 if report["in_percent"] else 1
    figure = Figure(figsize=(7, 5), layout="constrained")
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
