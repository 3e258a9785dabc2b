import re
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.models import Archive
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.archives import find_mixes
from elmo_tasks.serve.tasks import TASKS, Task


class ServedModel:
    """
    A model that the server answers with.

    # Parameters

    name: The name of the model in addresses and on its tab.
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
        self.task: Task | None = TASKS.get(str(self.model.default_predictor))
        limits = {} if self.task is None else self.task.limits
        self.predictor = Predictor.from_archive(archive, extra_args=limits)
        if self.task is not None and not self.task.fields:
            names = self.predictor.input_names  # type: ignore[attr-defined]
            self.task = self.task._replace(fields={name: name.capitalize() for name in names})
        # The predictor whose answers have everything that the page shows. It shares the model.
        self.detailed = self.predictor
        if self.task is not None and self.task.details:
            self.detailed = type(self.predictor)(
                self.model, self.predictor._dataset_reader, **limits, **self.task.details
            )

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
        other: dict[str, Any] = {"task": None, "title": "JSON", "fields": {}, "examples": []}
        return {**about, **(other if self.task is None else self.task.describe())}
