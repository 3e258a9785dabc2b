from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.tokenizers import Token
from allennlp.predictors import Predictor


@Predictor.register("elmo_sst")
class SstPredictor(Predictor):
    """
    Predicts the sentiment of a sentence, from `{"sentence": "..."}`, raw text that the tokenizer
    of the dataset reader cuts, or from `{"tokens": ["...", ...]}`. An answer has `tokens`,
    `label` and `probabilities`, by the names of the classes, beside what the model puts out.

    Registered as a `Predictor` with name "elmo_sst".
    """

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        tokens = self._tokens(json_dict)
        if not tokens:
            raise ValueError(f"there is no word in {json_dict!r}")
        return self._dataset_reader.text_to_instance(tokens)

    def _tokens(self, inputs: JsonDict) -> list[Token]:
        match inputs:
            case {"sentence": str(text), **others} if not others:
                return self._dataset_reader.tokenizer.tokenize(text)
            case {"tokens": [*words], **others} if not others and all(map(_is_word, words)):
                return [Token(word) for word in words]
        raise ValueError(
            'expected {"sentence": "raw text"} or {"tokens": ["one", "word", "each"]}, but got '
            f"{inputs!r}"
        )


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""
