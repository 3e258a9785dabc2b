import statistics

import pytest

from elmo_tasks.analysis.ablation.report import Report, ablation_report, text_of
from elmo_tasks.analysis.ablation.run import Result, Run
from tests.helpers.ablation_reports import ROOT, report, result


def table(report: Report) -> list[list[str]]:
    lines = [line for line in text_of(report).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    # The second line is one of dashes.
    return [cells[0], *cells[2:]]


def test_the_table_has_a_row_for_each_variant_with_the_paper_beside() -> None:
    # The mean is 0.43, the deviations are 0.03, 0.01 and 0.02, and the variance is 0.0014 / 2.
    values = (0.40, 0.44, 0.45)
    results = [result("both", seed, value) for seed, value in enumerate(values, start=1)]

    shown = table(report(result("baseline", 1, 0.5), *results, result("input", 1, 0.6)))

    assert shown == [
        ["variant", "validation accuracy, %", "seeds", "epochs", "seconds an epoch", "paper"],
        ["baseline", "50.00", "1 of 1", "5.0", "2.0", "51.4 (test accuracy, Table 1)"],
        ["both", "43.00 ± 2.65", "3 of 3", "6.0", "4.0", "54.7 ± 0.5 (test accuracy, Table 1)"],
        ["input", "60.00", "1 of 1", "5.0", "2.0", ""],
    ]


def test_a_failed_run_is_a_failed_row_and_one_to_come_is_counted() -> None:
    good, failed, missing = (Run(ROOT, "both", seed) for seed in (1, 2, 3))
    results = [Result(failed, "exit 1: KeyError"), result("both", 1, 0.5)]

    shown = ablation_report("other", "+accuracy", [good, failed, missing], results)

    assert table(shown)[1:] == [
        ["both", "50.00", "1 of 3", "5.0", "2.0"],
        ["both, seed 2", "failed, see runs/both/seed2.log", "", "", ""],
    ]

    assert [run["status"] for run in shown["runs"]] == ["complete", "failed", "not yet"]
    assert shown["runs"][1]["error"] == "exit 1: KeyError"


def test_variants_that_failed_altogether_or_are_to_come_have_rows_too() -> None:
    runs = [Run(ROOT, "both", 1), Run(ROOT, "input", 1)]

    shown = ablation_report("sst", "+accuracy", runs, [Result(runs[0], "exit 1: KeyError")])

    assert [line[0] for line in table(shown)[1:]] == ["both", "both, seed 1", "input"]
    assert shown["rows"][0]["mean"] is None


def test_a_metric_that_is_no_part_of_one_is_shown_as_it_is() -> None:
    for metric, value in (("-perplexity", 0.5), ("+f1", 85.5)):
        shown = table(report(result("both", 1, value), metric=metric))

        assert shown[0][1] == f"validation {metric[1:]}"
        assert shown[1][1] == f"{value:.4f}"


def test_the_numbers_are_there_as_json() -> None:
    values = [0.4, 0.5, 0.7]
    results = [result("both", seed, value) for seed, value in enumerate(values, start=1)]

    shown = report(*results)

    assert shown["metric"] == "best_validation_accuracy"
    (row,) = shown["rows"]
    assert row["mean"] == pytest.approx(sum(values) / 3)
    assert row["std"] == pytest.approx(statistics.stdev(values))
    assert (row["seeds"], row["values"]) == ([1, 2, 3], values)
    assert row["paper"]["value"] == 54.7
    assert shown["machine"]["cpu"] and shown["command"].startswith("allennlp")
