from typing import Any

from allennlp.common.util import JsonDict, sanitize
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.predictors.inputs import check_texts
from elmo_tasks.predictors.label_predictor import LabelPredictor
from elmo_tasks.predictors.text_predictor import Task
from elmo_tasks.readers.snli import LABELS

_BEACH = "Two girls in red coats are throwing a ball to a dog on the beach."


@Predictor.register("elmo_snli")
class SnliPredictor(LabelPredictor):
    """
    Predicts whether a premise entails a hypothesis. An input is
    `{"premise": "...", "hypothesis": "..."}`, raw texts that the dataset reader's tokenizer cuts.
    An answer also has `premise_tokens` and `hypothesis_tokens`.

    Registered as a `Predictor` with name "elmo_snli".

    # Parameters

    attention (default `False`): Whether an answer also has `premise_attention` and
        `hypothesis_attention`. The first has a row for each token of the premise, with the token's
        attention weights over the hypothesis. The second has such rows for the hypothesis.
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
            {"premise": _BEACH, "hypothesis": "The girls are sisters."},
            {"premise": _BEACH, "hypothesis": "The girls are asleep in a bed."},
        ),
        drawing="entailment",
        compared="classes",
        explained=True,
        classes=LABELS,
        details={"attention": True},
    )

    def __init__(
        self, model: Model, dataset_reader: DatasetReader, attention: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(model, dataset_reader, **kwargs)
        self.attention = attention

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        names = ["label", "probabilities", *self.token_names]
        if self.attention:
            names += ["premise_attention", "hypothesis_attention"]
        return sanitize({name: output[name] for name in names})

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        check_texts(json_dict, self.input_names)
        tokenize = self._dataset_reader.tokenizer.tokenize
        return self._dataset_reader.text_to_instance(
            *(tokenize(json_dict[name]) for name in self.input_names)
        )
