from matplotlib.figure import Figure

from elmo_tasks.analysis.ablation.paper import published
from elmo_tasks.analysis.ablation.report import AblationReport
from elmo_tasks.analysis.ablation.run import percent


def draw(report: AblationReport) -> Figure:
    """
    Draws a curve for each variant over the fractions of the training data: the means over seeds,
    with standard deviations, and beside them the paper's curve as a dashed line.
    """
    rows = [row for row in report.rows if row.values]
    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    for index, variant in enumerate(dict.fromkeys(row.variant for row in rows)):
        points = sorted((row for row in rows if row.variant == variant), key=lambda r: r.fraction)
        axes.errorbar(
            [row.fraction for row in points],
            [report.shown(row.mean or 0.0) for row in points],
            yerr=[report.shown(row.std or 0.0) for row in points],
            color=f"C{index}",
            marker="o",
            capsize=4,
            label=variant,
        )
        of_paper = [
            (fraction, paper.value)
            for fraction in report.fractions
            if (paper := published(report.task, variant, fraction)) is not None
        ]
        # For most tasks the paper has only one point, and no curve.
        if len(of_paper) > 1 and report.is_percent:
            axes.plot(*zip(*of_paper), f"C{index}x--", label=f"{variant}, paper")
    axes.set_xscale("log")
    axes.set_xticks(report.fractions, [percent(fraction) for fraction in report.fractions])
    axes.set_xticks([], minor=True)
    axes.set(xlabel="training data", ylabel=report.label())
    counts = sorted({len(row.values) for row in rows}) or [0]
    seeds = "one seed" if counts == [1] else f"mean and standard deviation of {counts[-1]} seeds"
    axes.set_title(f"{report.task}: {seeds}")
    if rows:
        axes.legend()
    axes.spines[["top", "right"]].set_visible(False)
    return figure
