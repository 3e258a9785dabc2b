from collections.abc import Callable

import pytest

from elmo_tasks.analysis.ablation.chart import draw
from elmo_tasks.analysis.ablation.report import AblationReport
from elmo_tasks.analysis.ablation.result import Result
from elmo_tasks.analysis.ablation.run import Run
from tests.helpers.ablation_reports import ROOT, report, result
from tests.helpers.charts import drawn_texts


def curves(task: str = "snli") -> AblationReport:
    return report(
        *(
            result(variant, seed, base + 0.1 * k + seed / 100, fraction)
            for variant, base in (("baseline", 0.5), ("both", 0.6))
            for k, fraction in enumerate((0.001, 0.01, 0.1, 1.0))
            for seed in (1, 2)
        ),
        task=task,
    )


def bars() -> AblationReport:
    return report(
        *(
            result(variant, seed, 0.5 + k / 50 + seed / 200)
            for k, variant in enumerate(("baseline", "a variant with a very long name", "x"))
            for seed in (1, 2, 3)
        )
    )


@pytest.mark.parametrize("make", [bars, curves])
def test_nothing_of_the_chart_is_cut_off(make: Callable[[], AblationReport]) -> None:
    figure = draw(make())

    drawn_texts(figure)

    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.width > 0.9 * width and box.height > 0.9 * height


def test_bars_are_of_the_means_with_their_numbers() -> None:
    figure = draw(bars())

    texts = drawn_texts(figure)

    (axes,) = figure.axes
    widths = [patch.get_window_extent().width for patch in axes.patches]
    assert [width / widths[0] for width in widths] == pytest.approx([1, 53 / 51, 55 / 51])
    labels = {"51.00 ± 0.50", "a variant with a very long name", "validation accuracy, %"}
    assert labels <= set(texts)


def test_curves_are_over_the_fractions_with_those_of_the_paper() -> None:
    figure = draw(curves())

    texts = drawn_texts(figure)

    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    labels = axes.get_legend_handles_labels()[1]
    assert set(labels) == {"baseline", "both", "baseline, paper", "both, paper"}
    assert {"0.1 %", "1 %", "10 %", "100 %"} <= set(texts)


def test_a_task_without_curves_in_the_paper_has_its_own_curves_alone() -> None:
    (axes,) = draw(curves(task="sst")).axes

    assert set(axes.get_legend_handles_labels()[1]) == {"baseline", "both"}


def test_a_chart_without_results_can_be_drawn() -> None:
    runs = [Run(ROOT, "both", 1)]
    failed = AblationReport("sst", "+accuracy", runs, [Result(runs[0], "exit 1: KeyError")])

    assert "no run has ended" in draw(failed).axes[0].get_title()
