import pytest

from elmo_tasks.analysis.errors.chart import draw
from elmo_tasks.analysis.errors.report import ErrorReport
from tests.helpers.charts import drawn_texts
from tests.helpers.error_cases import CLASSIFIED, entities, judged, links


@pytest.mark.parametrize(
    "predictor, num_panels, text",
    [
        ("elmo_sst", 4, "predicted"),
        ("elmo_ner", 4, "PER\n1"),
        ("elmo_squad", 3, "right, %"),
        ("elmo_srl", 4, "PER\n1"),
        ("elmo_coref", 4, "missing:\nmention not found"),
    ],
)
def test_the_panels_are_those_of_the_task(predictor: str, num_panels: int, text: str) -> None:
    cases = {"elmo_ner": entities(), "elmo_srl": entities(), "elmo_coref": links()}.get(
        predictor, CLASSIFIED
    )

    figure = draw(ErrorReport("our $5 model", "dev.txt", judged(cases, predictor)))

    assert len(figure.axes) == num_panels
    texts = drawn_texts(figure)
    assert text in texts
    assert any(each.startswith("our $5 model on dev.txt: ") for each in texts)
