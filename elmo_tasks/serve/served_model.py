from allennlp.common.util import JsonDict
from allennlp.models import Archive
from allennlp.predictors import Predictor

from elmo_tasks.analysis.mix import mixes_of
from elmo_tasks.predictors.text_predictor import Task


class ServedModel:
    """A model of the server and its name in addresses."""

    def __init__(self, name: str, archive: Archive) -> None:
        self.name = name
        self.model = archive.model
        self.predictor = Predictor.from_archive(archive)
        task: Task | None = getattr(self.predictor, "task", None)
        self.task = task or Task(name, name, "Answers inputs in JSON.")

    def describe(self) -> JsonDict:
        """Returns what `GET /models` says of the model."""
        return {
            "name": self.name,
            "class": type(self.model).__name__,
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
            "mixes": mixes_of(self.model),
            **describe(self.task, getattr(self.predictor, "input_names", ())),
        }


def describe(task: Task, fields: tuple[str, ...]) -> JsonDict:
    """Returns what `GET /models` says of a task whose inputs have these fields."""
    shown = ("title", "about", "examples", "drawing", "legend", "explained")
    return {"task": task.name, "fields": fields, **{name: getattr(task, name) for name in shown}}
