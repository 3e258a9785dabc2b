import statistics

import pytest

from elmo_tasks.analysis.ablation.report import Report, text_of
from elmo_tasks.analysis.ablation.run import Run
from tests.helpers.ablation_reports import FAILED, ROOT, report, result


def table(report: Report) -> list[list[str]]:
    lines = [line for line in text_of(report).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    # The second line is one of dashes.
    return [cells[0], *cells[2:]]


def test_the_table_has_a_row_for_each_variant() -> None:
    # The mean is 0.43, the deviations are 0.03, 0.01 and 0.02, and the variance is 0.0014 / 2.
    values = (0.40, 0.44, 0.45)
    results = [result("both", seed, value) for seed, value in enumerate(values, start=1)]

    shown = report(result("baseline", 1, 0.5), *results, result("input", 1, 0.6))

    assert table(shown) == [
        ["variant", "validation accuracy, %", "seeds", "epochs"],
        ["baseline", "50.00", "1 of 1", "5.0"],
        ["both", "43.00 ± 2.65", "3 of 3", "6.0"],
        ["input", "60.00", "1 of 1", "5.0"],
    ]
    assert shown["metric"] == "best_validation_accuracy"
    _, row, _ = shown["rows"]
    assert row["mean"] == pytest.approx(0.43)
    assert row["std"] == pytest.approx(statistics.stdev(values))
    assert (row["seeds"], row["values"]) == ([1, 2, 3], list(values))


def test_failed_runs_and_those_to_come_are_counted() -> None:
    failed, missing, other = Run(ROOT, "both", 2), Run(ROOT, "both", 3), Run(ROOT, "input", 1)

    shown = report(result("both", 1, 0.5), (failed, FAILED), (missing, {}), (other, FAILED))

    assert table(shown)[1:] == [
        ["both", "50.00", "1 of 3", "5.0"],
        ["input", "", "0 of 1", ""],
    ]
    states = [run["status"] for run in shown["runs"]]
    assert states == ["complete", "failed", "not yet", "failed"]
    assert shown["runs"][1]["error"] == "exit 1: KeyError"
    assert shown["rows"][1]["mean"] is None


def test_a_metric_that_is_no_part_of_one_is_shown_as_it_is() -> None:
    for metric, value in (("-perplexity", 0.5), ("+f1", 85.5)):
        shown = table(report(result("both", 1, value), metric=metric))

        assert shown[0][1] == f"validation {metric[1:]}"
        assert shown[1][1] == f"{value:.4f}"
