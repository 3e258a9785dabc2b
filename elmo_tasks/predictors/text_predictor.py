import json
import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import torch
from allennlp.common.util import JsonDict, sanitize
from allennlp.data import Instance
from allennlp.data.fields import TextField
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.errors import NOT_FINITE
from elmo_tasks.common.text import parse_data, printable
from elmo_tasks.modules.text_embedder import EmbeddedText
from elmo_tasks.predictors.fields import with_fields
from elmo_tasks.predictors.inputs import sentence_input
from elmo_tasks.predictors.saliency import TokenVectors, passed_through
from elmo_tasks.predictors.stream import GROUP, stream
from elmo_tasks.readers.text_reader import with_lowered_capitals


class Task(NamedTuple):
    """
    The description of a predictor's task, for the page in the browser and for error reports.

    # Parameters

    name: The name of the task's configs, such as `ner`.
    title, about: The title of the task, and a sentence that says what its models do.
    examples: Inputs to try. The page opens with the answer to the first one.
    drawing: The function in `serve/static/page.js` that draws an answer. Without it, JSON is shown.
    legend: The meaning of each type in an answer.
    comparison: The part of an answer that `elmo-tasks errors` compares with the data: a key of
        `COMPARISONS`.
    classes: The order in which reports show the classes.
    explained: Whether the page shows which words an answer depends on (see `saliency`).
    """

    name: str
    title: str
    about: str
    examples: tuple[dict[str, Any], ...] = ()
    drawing: str | None = None
    legend: dict[str, str] = {}
    comparison: str | None = None
    classes: tuple[str | None, ...] = ()
    explained: bool = False


class TextPredictor(Predictor):
    """
    The base class of the predictors, which take JSON, plain text and tables (see `read_inputs`). An
    answer also has the fields of its input that the predictor does not read, such as an id (see
    `with_fields`).

    By default an input is a sentence, which the tokenizer of the dataset reader cuts (see
    `sentence_input`). For other inputs, a subclass has `input_names` and `instance_of`.
    """

    # The fields with the texts of an input.
    input_names: tuple[str, ...] = ("sentence",)

    # Other fields that the predictor reads, in place of the texts or in addition.
    other_names: tuple[str, ...] = ("tokens",)

    # The names of the texts in other people's training data, and our names for them.
    other_texts: dict[str, str] = {}

    # The kinds of files in which the training data may be (see `kind_of`).
    kinds_of_training: tuple[str, ...] = ("json", "columns")

    # The fields of an answer that become columns of a table; by default all.
    columns_of_answer: tuple[str, ...] = ()

    # The description of the task for the page and the error reports. `elmo-tasks evaluate` writes
    # an answer for each instance if this is not `None`.
    task: Task | None = None

    # The most tokens that the model reads at a time, padding included. A longer text is a batch of
    # its own.
    max_tokens = 4096

    # The most tokens of an input that the model reads, if it reads only parts of a long one.
    max_tokens_read: int | None = None

    # Whether the model reads the sentences of a text one by one, as rows of a batch.
    reads_documents = False

    def load_line(self, line: str) -> JsonDict:
        json_dict = parse_data(line)
        if not isinstance(json_dict, dict):
            raise ValueError("no JSON object")
        return self.renamed_texts(json_dict)

    def renamed_texts(self, json_dict: JsonDict) -> JsonDict:
        """Returns an input with its texts renamed to the names that the predictor reads."""
        ours = {name: new for name, new in self.other_texts.items() if new not in json_dict}
        return {ours.get(name, name): value for name, value in json_dict.items()}

    def inputs_of(self, path: str, first_line: str) -> Iterable[JsonDict] | None:
        """
        Returns the inputs of a file in the format of the training data, whose kind is one of
        `kinds_of_training`, or `None` if a file has an input on each line.
        """
        return None

    def stream(
        self, inputs: Iterable[JsonDict | Exception], size: int = GROUP
    ) -> Iterator[JsonDict | Exception]:
        """Yields the answer or the error of each input (see `stream.stream`)."""
        return stream(self.predict_batch_json, inputs, size)

    def stream_instances(self, instances: Iterable[Instance]) -> Iterator[JsonDict | Exception]:
        """Yields the answer or the error of each instance, as `stream` does."""
        return stream(self.predict_batch_instance, instances)

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        return self.predict_batch_json([inputs])[0]

    def predict_instance(self, instance: Instance) -> JsonDict:
        return self.predict_batch_instance([instance])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        answers = self.finite_answers(inputs)
        return [
            with_fields(answer, self.further_fields(json_dict))
            for answer, json_dict in zip(answers, inputs)
        ]

    def finite_answers(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """
        Returns the answers to inputs, as `answers` does. Raises `ValueError` if a number is NaN or
        infinite.
        """
        answers = self.answers(inputs)
        if not all(map(_is_finite, answers)):
            raise ValueError(NOT_FINITE)
        return answers

    def answers(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """Returns the answers to inputs, without the further fields of the inputs."""
        return super().predict_batch_json(inputs)

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        return [self.answer(*pair) for pair in zip(instances, self.outputs(instances))]

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
            batch_outputs = self._model.forward_on_instances(batch)
            for index, output in zip(indices, batch_outputs, strict=True):
                # In a batch of one, AllenNLP takes the loss for an output of the instance.
                output.pop("loss", None)
                outputs[index] = output
        return outputs

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
        """Returns the fields of an input that the predictor does not read."""
        names = (*self.input_names, *self.other_names)
        return {name: value for name, value in inputs.items() if name not in names}

    def dump_line(self, outputs: JsonDict) -> str:
        """Returns an answer as a line of JSON, with its line end."""
        return f"{as_json(outputs)}\n"

    def dump_text(self, answer: JsonDict) -> str:
        """Returns an answer as lines of text for people, each with its line end."""
        return "".join(f"{printable(line)}\n" for line in self.readable(answer))

    def readable(self, answer: JsonDict) -> list[str]:
        """Formats an answer as lines of text."""
        raise NotImplementedError

    def cells(self, answer: JsonDict) -> JsonDict:
        """Returns the columns of an answer in a table."""
        return {name: answer.get(name) for name in self.columns_of_answer or answer}

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self.as_read(self.instance_of(json_dict), json_dict)

    def instance_of(self, json_dict: JsonDict) -> Instance:
        """Makes an instance of an input. Raises `ValueError` if the input has another form."""
        sentence = sentence_input(json_dict, self._dataset_reader.tokenizer.tokenize)
        return self._dataset_reader.text_to_instance(sentence.tokens)

    def as_read(self, instance: Instance, json_dict: JsonDict) -> Instance:
        """Returns the instance of an input with raw text in capitals as the model reads it."""
        is_raw = not json_dict.keys() & {"tokens", "sentences"}
        # A reader of a user's own may have no such setting.
        lower = is_raw and getattr(self._dataset_reader, "lower_capitals", False)
        return with_lowered_capitals(instance) if lower else instance


def predictor_of(model: Model) -> type[TextPredictor] | None:
    """Returns the predictor of a task model, or `None` for another model."""
    name = getattr(model, "default_predictor", None)
    if name not in Predictor.list_available():
        return None
    kind = Predictor.by_name(name)
    return kind if issubclass(kind, TextPredictor) else None


def as_json(answer: JsonDict) -> str:
    """Returns an answer as JSON. Raises `ValueError` for NaN and infinity, which JSON lacks."""
    try:
        return json.dumps(answer, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"{NOT_FINITE} ({error})") from error


def one_line(*parts: Any) -> str:
    """Returns texts and probabilities on one line, separated by tabs."""
    texts = [f"{part:.2f}" if isinstance(part, float) else str(part) for part in parts]
    return "\t".join(" ".join(text.split()) for text in texts)


def _is_finite(value: Any) -> bool:
    """Returns whether no number of an answer is NaN or infinity, which JSON lacks."""
    if isinstance(value, float):
        return math.isfinite(value)
    children = value.values() if isinstance(value, dict) else value
    return not isinstance(value, dict | list) or all(map(_is_finite, children))


def _length(instance: Instance) -> int:
    """Returns the number of tokens of the longest text."""
    texts = (field for field in instance.fields.values() if isinstance(field, TextField))
    return max(map(len, texts), default=1)
