import pytest

from elmo_tasks.analysis.ablation.chart import draw
from elmo_tasks.analysis.ablation.report import ablation_report
from elmo_tasks.analysis.ablation.run import Result, Run
from tests.helpers.ablation_reports import ROOT, report, result
from tests.helpers.charts import drawn_texts


@pytest.mark.parametrize(
    ("task", "curves"),
    [
        ("snli", {"baseline", "both", "baseline, paper", "both, paper"}),
        ("sst", {"baseline", "both"}),
    ],
)
def test_each_variant_has_a_curve_and_that_of_the_paper_if_there_is_one(
    task: str, curves: set[str]
) -> None:
    figure = draw(
        report(
            *(
                result(variant, seed, base + 0.1 * k + seed / 100, fraction)
                for variant, base in (("baseline", 0.5), ("both", 0.6))
                for k, fraction in enumerate((0.001, 0.01, 0.1, 1.0))
                for seed in (1, 2)
            ),
            task=task,
        )
    )

    texts = drawn_texts(figure)

    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert set(axes.get_legend_handles_labels()[1]) == curves
    assert {"0.1 %", "1 %", "10 %", "100 %", "validation accuracy, %"} <= set(texts)
    # The points are the means of two seeds, 0.015 above the base.
    assert axes.lines[0].get_ydata() == pytest.approx([51.5, 61.5, 71.5, 81.5])


def test_a_chart_without_results_can_be_drawn() -> None:
    runs = [Run(ROOT, "both", 1, fraction) for fraction in (0.1, 1.0)]
    failed = ablation_report("sst", "+accuracy", runs, [Result(runs[0], "exit 1: KeyError")])

    assert "10 %" in drawn_texts(draw(failed))
