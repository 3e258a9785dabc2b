from typing import Any, NamedTuple


class Task(NamedTuple):
    """
    What a predictor declares of its task, for the page in the browser and for error reports.

    # Parameters

    name: The name of the task's configs, such as `ner`.
    title, about: The name for people, and a sentence that says what a model of the task does.
    examples: Inputs to try. The page opens with the answer to the first one.
    drawing: The function in `serve/static/page.js` that draws an answer; by default JSON is shown.
    legend: What the names of types in an answer mean.
    compared: What `elmo-tasks errors` compares with the data (see `analysis/errors`).
    classes: The order in which reports show the classes.
    explained: Whether the page shows which words an answer depends on (see `saliency`).
    details: Arguments of the predictor that make its answers have all that the page draws.
    limits: Arguments of the predictor that limit its work on a server.
    """

    name: str
    title: str
    about: str
    examples: tuple[dict[str, Any], ...] = ()
    drawing: str | None = None
    legend: dict[str, str] = {}
    compared: str | None = None
    classes: tuple[str | None, ...] = ()
    explained: bool = False
    details: dict[str, Any] = {}
    limits: dict[str, Any] = {}
