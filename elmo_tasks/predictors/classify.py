from itertools import islice
from typing import Any

import numpy
import torch
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import MetadataField, MultiLabelField
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.predictors.inputs import check_texts, given_words
from elmo_tasks.predictors.label_predictor import LabelPredictor
from elmo_tasks.predictors.text_predictor import Task
from elmo_tasks.readers.classify import SEVERAL, TEXT_FIELDS, ClassifyReader


@Predictor.register("elmo_classify")
class ClassifyPredictor(LabelPredictor):
    """
    Classifies texts with a model of the user's own data. An input has raw text under the name of
    each column that the model was trained on, such as `{"text": "..."}`, or for one text
    `{"tokens": ["...", ...]}`. An answer has all outputs of the model, and the words of the first
    text as `tokens`.

    Registered as a `Predictor` with name "elmo_classify".
    """

    task = Task(
        "classify",
        "Classify",
        "Gives a text one of the labels of the data that the model was trained on.",
        drawing="label",
        compared="classes",
        explained=True,
    )
    reads_documents = True
    _dataset_reader: ClassifyReader

    def __init__(self, model: Model, dataset_reader: ClassifyReader, **kwargs: Any) -> None:
        self.input_names = tuple(dataset_reader.texts)
        self.other_names = ("tokens",) if len(self.input_names) == 1 else ()
        super().__init__(model, dataset_reader, **kwargs)
        if model.several:
            self.task = self.task._replace(compared="labels")

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        cut = self._dataset_reader.sentences
        words = given_words(json_dict) if self.other_names else None
        if words is not None:
            texts = [cut.of_words(words)]
        else:
            check_texts(json_dict, self.input_names)
            texts = [cut.of_text(json_dict[name]) for name in self.input_names]
        if not all(texts):
            raise ValueError("there is no word in the text")
        return self._dataset_reader.text_to_instance(texts)

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        (labelled,) = super().predictions_to_labeled_instances(instance, outputs)
        if self._model.several:
            chosen = numpy.flatnonzero(numpy.asarray(outputs["class_probabilities"]) >= 0.5)
            size = self._model.vocab.get_vocab_size(SEVERAL)
            labels = MultiLabelField(chosen.tolist(), SEVERAL, skip_indexing=True, num_labels=size)
            labelled.add_field("label", labels)
        return [labelled]

    def get_gradients(
        self, instances: list[Instance]
    ) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        # Attackers of AllenNLP change tokens, and the model reads the sentences in the metadata.
        for instance in instances:
            fields = [instance[name] for name in TEXT_FIELDS if name in instance.fields]
            texts = [[token.text for token in field] for field in fields]  # type: ignore
            sentences = instance["metadata"]["sentences"]  # type: ignore
            metadata = {"sentences": list(map(_cut, texts, sentences))}
            instance.add_field("metadata", MetadataField(metadata))
        return super().get_gradients(instances)


def _cut(words: list[str], sentences: list[list[str]]) -> list[list[str]]:
    """Cuts words into as many as each sentence has. Fewer words become one sentence."""
    if len(words) < sum(map(len, sentences)):
        return [words]
    rest = iter(words)
    return [list(islice(rest, len(sentence))) for sentence in sentences]
