from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.predictors.inputs import sentence_input


@Predictor.register("elmo_sst")
class SstPredictor(Predictor):
    """
    Predicts the sentiment of a sentence, from `{"sentence": "..."}`, raw text that the tokenizer
    of the dataset reader cuts, or from `{"tokens": ["...", ...]}`. An answer has `tokens`,
    `label` and `probabilities`, by the names of the classes, beside what the model puts out.

    Registered as a `Predictor` with name "elmo_sst".
    """

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        tokens = sentence_input(json_dict, self._dataset_reader.tokenizer.tokenize).tokens
        return self._dataset_reader.text_to_instance(tokens)
