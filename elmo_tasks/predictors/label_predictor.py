from typing import Any

import numpy
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import LabelField

from elmo_tasks.predictors.answers import one_line
from elmo_tasks.predictors.text_predictor import TextPredictor


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
