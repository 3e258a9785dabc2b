from typing import Any

import pytest

from elmo_tasks.analysis.errors.case import Case, Claim
from elmo_tasks.analysis.errors.markdown import markdown
from elmo_tasks.analysis.errors.report import error_report
from tests.helpers.error_cases import CLASSIFIED, class_case, compared_cases, entities, links


def shown(cases: list[Case], compared: str = "classes", *other: Any) -> str:
    return markdown(error_report("ours", "dev.txt", compared_cases(cases, compared), 10, *other))


def cells(text: str, first: str) -> list[list[str]]:
    """Returns the rows below the heading of the table whose first column is `first`."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(f"| {first}"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_a_report_on_classes_has_every_part() -> None:
    text = shown(CLASSIFIED)

    assert text.startswith("# Errors of ours on dev.txt\n\n10 cases; accuracy 70.00 %.\n")
    assert cells(text, "expected") == [["a", "4", "1"], ["b", "2", "3"]]
    # Class a: 4 of 6 predicted and of 5 expected are right; class b: 3 of 4 and of 5.
    assert cells(text, "class") == [
        ["a", "5", "6", "66.67", "80.00", "72.73"],
        ["b", "5", "4", "75.00", "60.00", "66.67"],
        ["mean of each class", "", "", "70.83", "70.00", "69.70"],
    ]
    assert cells(text, "tokens")[0] == ["2 to 4", "3", "100.00"]
    assert cells(text, "confidence")[-1] == ["90 to 100 %", "4", "97.25", "75.00"]
    assert "1. 0.990 **b**, expected **a**: a as b \\*6\\*" in text
    assert "## Against" not in text


@pytest.mark.parametrize("compared", ["entities", "roles"])
def test_a_report_on_spans_has_their_types(compared: str) -> None:
    text = shown(entities(), compared)

    # Four of the six predicted and expected entities are halves of a right one.
    assert "3 cases; F1 66.67 %.\n" in text
    assert "## By type\n\n| type |" in text
    assert cells(text, "type") == [
        ["LOC", "2", "1", "100.00", "50.00", "66.67"],
        ["PER", "1", "2", "50.00", "100.00", "66.67"],
    ]
    assert "1. 0.700 **PER Paris**, expected **LOC Paris**: Paris sings" in text


def test_a_span_without_a_type_is_an_entity() -> None:
    claim = Claim("Rome", "Rome", 0.9, True)
    case = Case("Rome burns", [(1, 1, 1, 1)], [claim], [""], [""], 2)

    rows = cells(shown([case], "entities"), "type")

    assert rows == [["entity", "1", "1", "100.00", "100.00", "100.00"]]


def test_a_report_on_links_has_the_sentence_of_a_mistake() -> None:
    text = shown(links(), "links")

    assert "2 cases; mean F1 40.00 %." in text
    assert "1. 0.800 **It → her**, expected **It → her shop**: It closed ." in text


def test_a_comparison_says_how_sure_it_is() -> None:
    other = [*CLASSIFIED[:-1], class_case("b", "b", 0.9, 20)]

    text = shown(CLASSIFIED, "classes", "theirs", other)

    assert "theirs has accuracy 80.00 %. The difference is -10.00 points" in text
    assert "no more than chance may explain" in text
    assert "ours is better in 0 cases and worse in 1; in 9 both are as good." in text


def test_a_mistake_is_named_by_its_line_and_id() -> None:
    cases = [class_case("a", "b")._replace(line=7, id="x*1"), class_case("a", "a")]

    assert "1. 0.500, line 7, id x\\*1 **b**, expected **a**" in shown(cases)
