from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.predictors.inputs import check_texts
from elmo_tasks.predictors.text_predictor import EXPECTED_JSON, TextPredictor, one_line

_TEXTS = ("premise", "hypothesis")


@Predictor.register("elmo_snli")
class SnliPredictor(TextPredictor):
    """
    Predicts whether a premise entails a hypothesis. An input is
    `{"premise": "...", "hypothesis": "..."}`, raw texts that the dataset reader's tokenizer cuts.
    An answer has `label` (the most probable class), `probabilities` (of each class, by name),
    `premise_tokens` and `hypothesis_tokens`. In text, an answer is the label, its probability, and
    the tokens of the premise and of the hypothesis.

    Registered as a `Predictor` with name "elmo_snli".

    # Parameters

    attention (default `False`): Whether an answer also has `premise_attention` and
        `hypothesis_attention`. The first has a row for each token of the premise, with the token's
        attention weights over the hypothesis. The second has such rows for the hypothesis.
        `--predictor-args '{"attention": true}'` asks for it.
    format: As in `TextPredictor`.
    """

    input_names = _TEXTS

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        attention: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, dataset_reader, frozen, **kwargs)
        if not isinstance(attention, bool):
            raise ConfigurationError(f"attention must be true or false, not {attention!r}")
        self.attention = attention

    def load_line(self, line: str) -> JsonDict:
        try:
            inputs = parse_json(line)
            check_texts(inputs, _TEXTS)
        except ValueError as error:
            raise ValueError(
                f'{EXPECTED_JSON}, {{"premise": "raw text", "hypothesis": "raw text"}}, but got '
                f"{line[:60]!r} ({error})"
            ) from error
        return inputs

    def readable(self, answer: JsonDict) -> list[str]:
        label = answer["label"]
        texts = [" ".join(answer[f"{name}_tokens"]) for name in _TEXTS]
        return [one_line(label, answer["probabilities"][label], *texts)]

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        return [self._answer(output) for output in super().predict_batch_instance(instances)]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        check_texts(json_dict, _TEXTS)
        tokenize = self._dataset_reader.tokenizer.tokenize
        return self._dataset_reader.text_to_instance(
            tokenize(json_dict["premise"]), tokenize(json_dict["hypothesis"])
        )

    def _answer(self, output: JsonDict) -> JsonDict:
        names = ["label", "probabilities", "premise_tokens", "hypothesis_tokens"]
        if self.attention:
            names += ["premise_attention", "hypothesis_attention"]
        return {name: output[name] for name in names}
