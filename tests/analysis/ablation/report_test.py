import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from elmo_tasks.analysis.ablation.chart import draw
from elmo_tasks.analysis.ablation.paper import published
from elmo_tasks.analysis.ablation.report import AblationReport
from elmo_tasks.analysis.ablation.result import Result
from elmo_tasks.analysis.ablation.run import Run

ROOT = Path("runs")


def result(variant: str, seed: int, value: float, fraction: float = 1.0) -> Result:
    return Result(
        Run(ROOT, variant, seed, fraction), value=value, epochs=4 + seed, seconds=2.0 * seed
    )


def report(*results: Result, task: str = "sst", metric: str = "+accuracy") -> AblationReport:
    return AblationReport(task, metric, [result.run for result in results], results)


def table(report: AblationReport) -> list[list[str]]:
    lines = [line for line in report.text().splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_has_a_row_for_each_variant_with_the_paper_beside() -> None:
    # Of 0.40, 0.44 and 0.45: mean 0.43; deviations 0.03, 0.01, 0.02; their squares over 2: 0.0007.
    values = (0.40, 0.44, 0.45)
    results = [result("both", seed, value) for seed, value in enumerate(values, start=1)]
    shown = table(report(result("baseline", 1, 0.5), *results, result("input", 1, 0.6)))
    assert shown == [
        ["variant", "validation accuracy, %", "seeds", "epochs", "seconds an epoch", "paper"],
        ["---"] * 6,
        ["baseline", "50.00", "1 of 1", "5.0", "2.0", "51.4 (test accuracy, Table 1)"],
        ["both", "43.00 ± 2.65", "3 of 3", "6.0", "4.0", "54.7 ± 0.5 (test accuracy, Table 1)"],
        ["input", "60.00", "1 of 1", "5.0", "2.0", ""],
    ]


def test_a_failed_run_is_a_failed_row_and_one_to_come_is_counted() -> None:
    good, failed, missing = (Run(ROOT, "both", seed) for seed in (1, 2, 3))
    results = [Result(failed, "exit 1: KeyError"), result("both", 1, 0.5)]
    shown = AblationReport("other", "+accuracy", [good, failed, missing], results)
    assert table(shown)[2:] == [
        ["both", "50.00", "1 of 3", "5.0", "2.0"],
        ["both, seed 2", "failed, see runs/both/seed2.log", "", "", ""],
    ]
    as_dict = shown.as_dict()
    assert [run["status"] for run in as_dict["runs"]] == ["complete", "failed", "not yet"]
    assert as_dict["runs"][1]["error"] == "exit 1: KeyError"


def test_variants_that_failed_altogether_or_are_to_come_have_rows_too() -> None:
    runs = [Run(ROOT, "both", 1), Run(ROOT, "input", 1)]
    shown = AblationReport("sst", "+accuracy", runs, [Result(runs[0], "exit 1: KeyError")])
    assert [line[0] for line in table(shown)[2:]] == ["both", "both, seed 1", "input"]
    assert shown.as_dict()["rows"][0]["mean"] is None


def test_a_metric_that_is_no_part_of_one_is_shown_as_it_is() -> None:
    for metric, value in (("-perplexity", 0.5), ("+f1", 85.5)):
        shown = table(report(result("both", 1, value), metric=metric))
        assert shown[0][1] == f"validation {metric[1:]}"
        assert shown[2][1] == f"{value:.4f}"


def test_the_numbers_are_there_as_json() -> None:
    values = [0.4, 0.5, 0.7]
    results = [result("both", seed, value) for seed, value in enumerate(values, start=1)]
    shown = report(*results).as_dict()
    assert shown["metric"] == "best_validation_accuracy"
    (row,) = shown["rows"]
    assert row["mean"] == pytest.approx(sum(values) / 3)
    assert row["std"] == pytest.approx(statistics.stdev(values))
    assert (row["seeds"], row["values"]) == ([1, 2, 3], values)
    assert row["paper"]["value"] == 54.7
    assert shown["machine"]["cpu"] and shown["command"].startswith("allennlp")


def test_the_gain_of_the_paper_is_that_of_its_two_numbers() -> None:
    # Table 1 prints the gain over the baseline beside them; Figure 1 is of the dev data.
    for task, variant, gain in (
        ("sst", "both", 3.3),
        ("snli", "both", 1.4),
        ("squad", "both", 4.8),
    ):
        numbers = [published(task, name) for name in ("baseline", variant)]
        assert None not in numbers
        assert numbers[1].value - numbers[0].value == pytest.approx(gain)  # type: ignore
    assert str(published("snli", "both", 0.01)) == "74.8 (dev accuracy, Figure 1)"
    assert published("sst", "both", 0.01) is None
    assert published("own", "both") is None


def curves(task: str = "snli") -> AblationReport:
    return report(
        *(
            result(variant, seed, base + 0.1 * place + seed / 100, fraction)
            for variant, base in (("baseline", 0.5), ("both", 0.6))
            for place, fraction in enumerate((0.001, 0.01, 0.1, 1.0))
            for seed in (1, 2)
        ),
        task=task,
    )


def bars() -> AblationReport:
    return report(
        *(
            result(variant, seed, 0.5 + place / 50 + seed / 200)
            for place, variant in enumerate(("baseline", "a variant with a very long name", "x"))
            for seed in (1, 2, 3)
        )
    )


def texts(report: AblationReport) -> set[str]:
    figure = draw(report)
    FigureCanvasAgg(figure).draw()
    return {text.get_text() for text in figure.findobj(Text)}


@pytest.mark.parametrize("make", [bars, curves])
def test_nothing_of_the_chart_is_cut_off(make: Callable[[], AblationReport]) -> None:
    figure = draw(make())
    FigureCanvasAgg(figure).draw()
    # Of all that is drawn, in inches.
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    assert box.width > 0.9 * width and box.height > 0.9 * height


def test_bars_are_of_the_means_with_their_numbers() -> None:
    (axes,) = draw(bars()).axes
    widths = [patch.get_window_extent().width for patch in axes.patches]
    assert [width / widths[0] for width in widths] == pytest.approx([1, 53 / 51, 55 / 51])
    labels = {"51.00 ± 0.50", "a variant with a very long name", "validation accuracy, %"}
    assert labels <= texts(bars())


def test_curves_are_over_the_fractions_with_those_of_the_paper() -> None:
    (axes,) = draw(curves()).axes
    assert axes.get_xscale() == "log"
    labels = axes.get_legend_handles_labels()[1]
    assert set(labels) == {"baseline", "both", "baseline, paper", "both, paper"}
    assert {"0.1 %", "1 %", "10 %", "100 %"} <= texts(curves())
    (axes,) = draw(curves(task="sst")).axes
    assert set(axes.get_legend_handles_labels()[1]) == {"baseline", "both"}


def test_a_chart_without_results_can_be_drawn() -> None:
    runs = [Run(ROOT, "both", 1)]
    failed = AblationReport("sst", "+accuracy", runs, [Result(runs[0], "exit 1: KeyError")])
    assert "no run has ended" in draw(failed).axes[0].get_title()
