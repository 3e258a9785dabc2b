import inspect
import sys
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

import torch
from allennlp.common.util import JsonDict, sanitize
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import TextField
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.common.printable import printable
from elmo_tasks.common.spelling import did_you_mean
from elmo_tasks.modules.text_embedder import EmbeddedText
from elmo_tasks.predictors.answers import as_json, with_fields
from elmo_tasks.predictors.inputs import sentence_input
from elmo_tasks.predictors.saliency import TokenVectors, passed_through

FORMATS = ("json", "text")

# A field that is at least this similar to a known field is misspelt, and is no further field:
# `predicate` is misspelt (0.95 with `predicates`), but `gender` is not (0.73 with `genre`).
_MISSPELT = 0.9


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


class TextPredictor(Predictor):
    """
    The base class of the predictors, which take JSON, plain text and tables (see `read_inputs`). An
    answer begins with the further fields of its input, which the predictor does not read, such as
    an id (see `with_fields`).

    An input is a sentence, which the tokenizer of the dataset reader cuts (see `sentence_input`),
    unless a subclass has other `input_names` and its own `_json_to_instance`.

    # Parameters

    frozen (default `True`): Whether the model is put into evaluation mode.
    format: `json`, or `text` for people. By default `elmo-tasks predict` answers inputs in JSON as
        JSON, and others as text.
    column: The column of a table with the texts; by default `text`, or the name of the input.
    split (default `False`): Whether spaCy's sentencizer cuts a line of plain text, or a field of a
        table, into sentences. Each sentence then has an answer of its own.

    # Raises

    `ConfigurationError`: The predictor has no such parameter, or the model is of another task.
    """

    # The fields with the texts of an input.
    input_names: tuple[str, ...] = ("sentence",)

    # Other fields that the predictor reads, in place of the texts or in addition.
    other_names: tuple[str, ...] = ("tokens",)

    # What the page and error reports are told of the task. `elmo-tasks evaluate` writes an answer
    # for each instance if there is one.
    task: Task | None = None

    # The most tokens that the model reads at a time, padding included. A longer text is a batch of
    # its own.
    max_tokens = sys.maxsize

    # Whether the model reads the sentences of a text one by one, as rows of a batch.
    reads_documents = False

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        format: str = None,
        column: str = None,
        split: bool = False,
        **unknown: Any,
    ) -> None:
        if unknown:
            name = next(iter(unknown))
            inits = (type(self).__init__, TextPredictor.__init__)
            known = [each for init in inits for each in inspect.signature(init).parameters]
            raise ConfigurationError(
                f"{_name(type(self))} has no parameter {name!r}{did_you_mean(name, known)}"
            )
        _check_model(type(self), model)
        super().__init__(model, dataset_reader, frozen)
        if format is not None:
            check_choice("format", format, FORMATS)
        if len(self.input_names) > 1 and (split or column is not None):
            raise ConfigurationError(
                f"this model reads the columns {' and '.join(self.input_names)} of a table: leave "
                "out column and split"
            )
        self.format = format
        self.column = column
        self.split = split

    def load_line(self, line: str) -> JsonDict:
        return parse_json(line)

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        return self.predict_batch_json([inputs])[0]

    def predict_instance(self, instance: Instance) -> JsonDict:
        return self.predict_batch_instance([instance])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        answers = self.answers(inputs)
        for answer in answers:
            as_json(answer)
        return [
            with_fields(answer, self.further_fields(each)) for answer, each in zip(answers, inputs)
        ]

    def answers(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """Returns the answers to inputs, without the further fields of the inputs."""
        return super().predict_batch_json(inputs)

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        return [self.answer(*each) for each in zip(instances, self.outputs(instances))]

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        """Returns the answer for an instance, given the output of the model."""
        return sanitize(output)

    def outputs(self, instances: list[Instance]) -> list[dict[str, Any]]:
        """Returns the outputs of the model for instances, which it reads in batches."""
        outputs: list[dict[str, Any]] = [{} for _ in instances]
        for indices in batches_by_length(list(map(_length, instances)), self.max_tokens):
            batch = [instances[index] for index in indices]
            for instance in batch:
                self._dataset_reader.apply_token_indexers(instance)
            for index, output in zip(indices, self.forward(batch), strict=True):
                # In a batch of one, AllenNLP takes the loss for an output of the instance.
                output.pop("loss", None)
                outputs[index] = output
        return outputs

    def forward(self, batch: list[Instance]) -> list[dict[str, Any]]:
        """Returns the output of the model for each instance of a batch."""
        return self._model.forward_on_instances(batch)

    def get_interpretable_layer(self) -> torch.nn.Module:
        return self._vectors

    def get_gradients(self, instances: list[Instance]) -> tuple[dict[str, Any], dict[str, Any]]:
        def through_layer(_: Any, __: Any, texts: list[EmbeddedText]) -> list[EmbeddedText]:
            return [passed_through(self._vectors, text, self.reads_documents) for text in texts]

        with self._model.text_embedder.register_forward_hook(through_layer):
            return super().get_gradients(instances)

    @cached_property
    def _vectors(self) -> TokenVectors:
        return TokenVectors(self._model.text_embedder.words)

    def further_fields(self, inputs: JsonDict) -> JsonDict:
        """
        Returns the fields of an input that the predictor does not read. Raises `ValueError` for a
        misspelt field, such as `predicate` for `predicates`.
        """
        names = (*self.input_names, *self.other_names)
        further = {name: value for name, value in inputs.items() if name not in names}
        absent = [name for name in self.other_names if name not in inputs]
        for name in further:
            if get_close_matches(name, absent, cutoff=_MISSPELT):
                raise ValueError(f"there is no field {name!r}{did_you_mean(name, absent)}")
        return further

    def dump_line(self, outputs: JsonDict) -> str:
        """Returns an answer as a line of JSON or as lines of text, each with its line end."""
        line = as_json(outputs)
        if self.format == "text":
            return "".join(f"{printable(each)}\n" for each in self.readable(outputs))
        return f"{line}\n"

    def readable(self, answer: JsonDict) -> list[str]:
        """Formats an answer as lines of text."""
        raise NotImplementedError

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        sentence = sentence_input(json_dict, self._dataset_reader.tokenizer.tokenize)
        return self._dataset_reader.text_to_instance(sentence.tokens)


def _length(instance: Instance) -> int:
    """Returns the number of tokens of the longest text."""
    texts = (field for field in instance.fields.values() if isinstance(field, TextField))
    return max(map(len, texts), default=1)


def predictor_of(model: Model) -> type[TextPredictor] | None:
    """Returns the predictor of a task model, or `None` for another model."""
    name = getattr(model, "default_predictor", None)
    if name not in Predictor.list_available():
        return None
    kind = Predictor.by_name(name)
    return kind if issubclass(kind, TextPredictor) else None


def _check_model(kind: type[TextPredictor], model: Model) -> None:
    own = predictor_of(model)
    # Somebody's own predictor may read the outputs of any model.
    if own is None or not _name(kind).startswith("elmo_"):
        return
    if not issubclass(kind, own) and not issubclass(own, kind):
        raise ConfigurationError(
            f"the predictor {_name(kind)} does not fit the model, which is a "
            f"{type(model).__name__}: its predictor is {model.default_predictor}"
        )


def _name(kind: type[Predictor]) -> str:
    """Returns the registered name of a predictor, or the name of its class if it has none."""
    names = [name for name in Predictor.list_available() if Predictor.by_name(name) is kind]
    return names[0] if names else kind.__name__
