from typing import Any

import numpy
from allennlp.common.util import JsonDict, sanitize
from allennlp.data import Instance
from allennlp.data.fields import LabelField
from allennlp.predictors import Predictor

from elmo_tasks.predictors.inputs import check_texts
from elmo_tasks.predictors.text_predictor import Task, TextPredictor, one_line
from elmo_tasks.readers.snli import LABELS
from elmo_tasks.readers.sst import CLASSES

_BEACH = "Two girls in red coats are throwing a ball to a dog on the beach."


class LabelPredictor(TextPredictor):
    """
    The base class of predictors of a label for one text or several. An answer has `label`, the most
    probable one, and the `probabilities` of all by name. If a text may have several labels, an
    answer has `labels`, those with a probability of 0.5 or more. In text, an answer is each label
    with its probability, and the tokens of each text.
    """

    # The outputs of the model with the tokens of each text.
    token_names: tuple[str, ...] = ("tokens",)

    def readable(self, answer: JsonDict) -> list[str]:
        labels = answer["labels"] if "labels" in answer else [answer["label"]]
        found = [part for label in labels for part in (label, answer["probabilities"][label])]
        return [one_line(*found, *(" ".join(answer[name]) for name in self.token_names))]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        labelled = instance.duplicate()
        best = int(numpy.argmax(outputs["class_probabilities"]))
        labelled.add_field("label", LabelField(best, skip_indexing=True), self._model.vocab)
        return [labelled]


@Predictor.register("elmo_sst")
class SstPredictor(LabelPredictor):
    """
    Predicts the sentiment of a sentence. An answer has all outputs of the model, and `tokens`.

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
        compared="classes",
        explained=True,
        classes=CLASSES["5-class"],
    )


@Predictor.register("elmo_snli")
class SnliPredictor(LabelPredictor):
    """
    Predicts whether a premise entails a hypothesis. An input is
    `{"premise": "...", "hypothesis": "..."}`, raw texts that the dataset reader's tokenizer cuts.
    An answer also has `premise_tokens` and `hypothesis_tokens`.

    Registered as a `Predictor` with name "elmo_snli".
    """

    input_names = ("premise", "hypothesis")
    other_names = ()
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
        compared="classes",
        explained=True,
        classes=LABELS,
    )

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        names = ("label", "probabilities", *self.token_names)
        return sanitize({name: output[name] for name in names})

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        check_texts(json_dict, self.input_names)
        tokenize = self._dataset_reader.tokenizer.tokenize
        return self._dataset_reader.text_to_instance(
            *(tokenize(json_dict[name]) for name in self.input_names)
        )
