import re
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.models import Archive
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.opening import find_mixes
from elmo_tasks.predictors.task import Task


class ServedModel:
    """
    A model that the server answers with.

    # Parameters

    name: The name of the model in addresses.
    archive: The model and its config.

    # Raises

    `ConfigurationError`: The name has other characters than letters, digits and `_ . / -`.
    """

    def __init__(self, name: str, archive: Archive) -> None:
        if re.fullmatch(r"[\w./-]+", name) is None:
            raise ConfigurationError(
                f"a model cannot be named {name!r}: give it as NAME=MODEL, with a name of letters, "
                "digits and _ . / -"
            )
        self.name = name
        self.model = archive.model
        self.predictor = Predictor.from_archive(archive)
        self.task: Task | None = getattr(self.predictor, "task", None)
        # The predictor whose answers have everything that the page shows. It shares the model.
        self.detailed = self.predictor
        if self.task is not None:
            kind, reader = type(self.predictor), self.predictor._dataset_reader
            self.predictor = kind(self.model, reader, **self.task.limits)
            self.detailed = kind(self.model, reader, **self.task.limits, **self.task.details)

    def describe(self) -> JsonDict:
        """Returns what `GET /models` says of the model."""
        about: dict[str, Any] = {
            "name": self.name,
            "class": type(self.model).__name__,
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
            "mixes": [
                {"place": place, "weights": mix.weights.tolist(), "gamma": mix.gamma.item()}
                for place, mix in find_mixes(self.model).items()
            ],
        }
        if self.task is None:
            return {**about, **describe(Task(self.name, self.name, "Answers inputs in JSON."), ())}
        return {**about, **describe(self.task, self.predictor.input_names)}  # type: ignore


def describe(task: Task, fields: tuple[str, ...]) -> JsonDict:
    """Returns what `GET /models` says of a task whose inputs have these fields."""
    return {
        "task": task.name,
        "title": task.title,
        "about": task.about,
        "fields": fields,
        "examples": task.examples,
        "drawing": task.drawing,
        "legend": task.legend,
        "explained": task.explained,
    }
