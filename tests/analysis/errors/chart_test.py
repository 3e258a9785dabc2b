import pytest

from elmo_tasks.analysis.errors.case import Case
from elmo_tasks.analysis.errors.chart import draw
from elmo_tasks.analysis.errors.report import error_report
from tests.helpers.charts import drawn_texts
from tests.helpers.error_cases import CLASSIFIED, entities, judged


@pytest.mark.parametrize(
    ("cases", "compared", "num_panels", "text"),
    [(CLASSIFIED, "classes", 4, "predicted"), (entities(), "entities", 3, "right, %")],
)
def test_the_confusion_is_drawn_of_classes_alone(
    cases: list[Case], compared: str, num_panels: int, text: str
) -> None:
    figure = draw(error_report("our $5 model", "dev.txt", judged(cases, compared)))

    assert len(figure.axes) == num_panels
    texts = drawn_texts(figure)
    assert text in texts
    assert any(each.startswith("our $5 model on dev.txt: ") for each in texts)
