from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.predictors.inputs import sentence_input
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line


@Predictor.register("elmo_sst")
class SstPredictor(TextPredictor):
    """
    Predicts the sentiment of a sentence. An input is `{"sentence": "..."}`, raw text that the
    dataset reader's tokenizer cuts, or `{"tokens": ["...", ...]}`. An answer has all outputs of the
    model. `tokens` are the words, `label` is the most probable class, and `probabilities` maps the
    name of each class to its probability. In text, an answer is the label, its probability and the
    tokens.

    Registered as a `Predictor` with name "elmo_sst". Its parameters are those of `TextPredictor`.
    """

    input_names = ("sentence",)
    other_names = ("tokens",)

    def readable(self, answer: JsonDict) -> list[str]:
        label = answer["label"]
        return [one_line(label, answer["probabilities"][label], " ".join(answer["tokens"]))]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        tokens = sentence_input(json_dict, self._dataset_reader.tokenizer.tokenize).tokens
        return self._dataset_reader.text_to_instance(tokens)
