import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy
import torch
from allennlp.common.util import JsonDict, sanitize
from allennlp.data import Instance
from allennlp.data.fields import LabelField, MetadataField, MultiLabelField
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.common.text_files import at_line
from elmo_tasks.models.text_classifier import THRESHOLD
from elmo_tasks.predictors.inputs import check_texts, given_words
from elmo_tasks.predictors.text_predictor import Task, TextPredictor, one_line
from elmo_tasks.readers.classify import SEVERAL, TEXT_FIELDS, ClassifyReader
from elmo_tasks.readers.snli import LABELS
from elmo_tasks.readers.sst import CLASSES, numbered_trees, parse_tree

# How a tree of several words begins: with its label and another bracket, or a label alone.
_TREE = re.compile(r"\s*\([^\s()]*\s+\(|\s*\([0-4]\s*$")

_BEACH = "Two girls in red coats are throwing a ball to a dog on the beach."


class LabelPredictor(TextPredictor):
    """
    The base class of predictors of a label for one text or several. An answer has `label`, the most
    probable label, the `probabilities` of all labels by name, and the tokens of each text. If a
    text may have several labels, an answer has `labels`, all labels with a probability of 0.5 or
    more. In text, an answer is the labels with their probabilities, and the tokens of each text. In
    a table, it is `label` and `probability`, or `labels` and `probabilities`.
    """

    columns_of_answer = ("label", "probability")

    # The names of the model's outputs that have the tokens of each text.
    token_names: tuple[str, ...] = ("tokens",)

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        names = ("label", "labels", "probabilities", *self.token_names)
        return sanitize({name: output[name] for name in names if name in output})

    def cells(self, answer: JsonDict) -> JsonDict:
        if "labels" in answer:
            return {name: answer[name] for name in ("labels", "probabilities")}
        label = answer["label"]
        return {"label": label, "probability": answer["probabilities"][label]}

    def readable(self, answer: JsonDict) -> list[str]:
        labels = answer["labels"] if "labels" in answer else [answer["label"]]
        parts = [part for label in labels for part in (label, answer["probabilities"][label])]
        return [one_line(*parts, *(" ".join(answer[name]) for name in self.token_names))]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        labelled = instance.duplicate()
        best = int(numpy.argmax(list(outputs["probabilities"].values())))
        labelled.add_field("label", LabelField(best, skip_indexing=True), self._model.vocab)
        return [labelled]


@Predictor.register("elmo_sst")
class SstPredictor(LabelPredictor):
    """
    Predicts the sentiment of a sentence.

    Registered as a `Predictor` with name "elmo_sst".
    """

    task = Task(
        "sst",
        "SST",
        "Sentiment: says how positive or negative a sentence about a film is.",
        (
            {"sentence": "An unexpectedly moving film with two wonderful actors."},
            {"sentence": "The plot is thin, but the songs almost make up for it."},
        ),
        drawing="label",
        comparison="classes",
        explained=True,
        classes=CLASSES["5-class"],
    )
    kinds_of_training = ("text",)

    def inputs_of(self, path: str, first_line: str) -> Iterable[JsonDict] | None:
        if _TREE.match(first_line) is None:
            return None
        return ({"tokens": words} for words in _words_of_trees(path))


@Predictor.register("elmo_snli")
class SnliPredictor(LabelPredictor):
    """
    Predicts whether a premise entails a hypothesis. An input is `{"premise": "...", "hypothesis":
    "..."}`, raw texts that the dataset reader's tokenizer cuts. In a file, the texts may be called
    `sentence1` and `sentence2`, as in the corpus. An answer has the tokens as `premise_tokens` and
    `hypothesis_tokens`.

    Registered as a `Predictor` with name "elmo_snli".
    """

    input_names = ("premise", "hypothesis")
    other_names = ()
    other_texts = {"sentence1": "premise", "sentence2": "hypothesis"}
    token_names = ("premise_tokens", "hypothesis_tokens")
    task = Task(
        "snli",
        "SNLI",
        "Entailment: says whether the hypothesis follows from the premise (entailment), "
        "contradicts it, or neither (neutral).",
        (
            {"premise": _BEACH, "hypothesis": "Children are playing outside."},
            {"premise": _BEACH, "hypothesis": "The girls are asleep in a bed."},
        ),
        drawing="label",
        comparison="classes",
        explained=True,
        classes=LABELS,
    )

    def instance_of(self, json_dict: JsonDict) -> Instance:
        check_texts(json_dict, self.input_names)
        tokenize = self._dataset_reader.tokenizer.tokenize
        return self._dataset_reader.text_to_instance(
            *(tokenize(json_dict[name]) for name in self.input_names)
        )


@Predictor.register("elmo_classify")
class ClassifyPredictor(LabelPredictor):
    """
    Classifies texts with a model of the user's own data. An input has raw text under the name of
    each column that the model was trained on, such as `{"text": "..."}`. A model of one text also
    takes `{"tokens": ["...", ...]}`. An answer has the tokens of one text as `tokens`, and the
    tokens of two texts as `NAME_tokens`, where NAME is the column.

    Registered as a `Predictor` with name "elmo_classify".
    """

    task = Task(
        "classify",
        "Classify",
        "Gives a text one of the labels of the data that the model was trained on.",
        drawing="label",
        comparison="classes",
        explained=True,
    )
    reads_documents = True
    _dataset_reader: ClassifyReader

    def __init__(self, model: Model, dataset_reader: ClassifyReader, **kwargs: Any) -> None:
        self.input_names = tuple(dataset_reader.texts)
        self.other_names = ("tokens",) if len(self.input_names) == 1 else ()
        super().__init__(model, dataset_reader, **kwargs)
        if len(self.input_names) > 1:
            self.token_names = tuple(f"{name}_tokens" for name in self.input_names)
        if model.several:
            self.task = self.task._replace(comparison="labels")
            self.columns_of_answer = ("labels", "probabilities")

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        texts = instance["metadata"]["sentences"]  # type: ignore[index]
        tokens = {name: list(chain(*text)) for name, text in zip(self.token_names, texts)}
        return super().answer(instance, {**output, **tokens})

    def instance_of(self, json_dict: JsonDict) -> Instance:
        sentences = self._dataset_reader.sentences
        words = given_words(json_dict) if self.other_names else None
        if words is not None:
            texts = [sentences.of_words(words)]
        else:
            check_texts(json_dict, self.input_names)
            texts = [sentences.of_text(json_dict[name]) for name in self.input_names]
        return self._dataset_reader.text_to_instance(texts)

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        (labelled,) = super().predictions_to_labeled_instances(instance, outputs)
        if self._model.several:
            probabilities = numpy.array(list(outputs["probabilities"].values()))
            classes = numpy.flatnonzero(probabilities >= THRESHOLD)
            size = self._model.vocab.get_vocab_size(SEVERAL)
            labels = MultiLabelField(classes.tolist(), SEVERAL, skip_indexing=True, num_labels=size)
            labelled.add_field("label", labels)
        return [labelled]

    def get_gradients(
        self, instances: list[Instance]
    ) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        # AllenNLP's attackers change only the tokens, but the model also reads the metadata.
        for instance in instances:
            fields = [instance[name] for name in TEXT_FIELDS if name in instance.fields]
            texts = [[token.text for token in field] for field in fields]  # type: ignore
            sentences = instance["metadata"]["sentences"]  # type: ignore
            metadata = {"sentences": list(map(_cut_sentences, texts, sentences))}
            instance.add_field("metadata", MetadataField(metadata))
        return super().get_gradients(instances)


def _words_of_trees(path: str) -> Iterator[list[str]]:
    for number, line in numbered_trees(path):
        with at_line(path, number):
            yield parse_tree(line).words


def _cut_sentences(words: list[str], sentences: list[list[str]]) -> list[list[str]]:
    """
    Cuts words into sentences with the lengths of `sentences`. Too few words become one sentence.
    """
    if len(words) < sum(map(len, sentences)):
        return [words]
    stream = iter(words)
    return [list(islice(stream, len(sentence))) for sentence in sentences]
