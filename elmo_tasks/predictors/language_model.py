import functools

from allennlp.common.util import JsonDict
from allennlp.data import Instance, Token
from allennlp.predictors import Predictor

from elmo_tasks.language_model.model import ElmoLanguageModel, softmax_of
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.scoring.scores import Perplexity, Score
from elmo_tasks.predictors.inputs import sentence_input
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line


@Predictor.register("elmo_language_model")
class LanguageModelPredictor(TextPredictor):
    """
    Predicts how likely the words of a sentence are. A sentence is cut at its blanks, as the
    training text is. An answer has

    - `tokens`, and `unknown`: for each token, whether it is missing from the vocabulary;
    - `forward_log_probs` and `backward_log_probs`: the log probability of each token given the
      tokens before it, and given the tokens after it;
    - `end_log_prob` and `begin_log_prob`: the log probability of the sentence's end in the forward
      direction, and of its beginning in the backward direction;
    - `forward_perplexity` and `backward_perplexity`, which include the end or the beginning.

    In text, an answer is the two perplexities and the tokens.

    Registered as a `Predictor` with name "elmo_language_model".
    """

    _model: ElmoLanguageModel
    columns_of_answer = ("forward_perplexity", "backward_perplexity")

    def readable(self, answer: JsonDict) -> list[str]:
        perplexities = answer["forward_perplexity"], answer["backward_perplexity"]
        return [one_line(*perplexities, " ".join(answer["tokens"]))]

    def answers(self, inputs: list[JsonDict]) -> list[JsonDict]:
        sentences = [
            sentence_input(item, lambda text: list(map(Token, text.split()))) for item in inputs
        ]
        return self._answers(
            [[token.ensure_text() for token in sentence.tokens] for sentence in sentences]
        )

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        # The first and the last token are the boundaries.
        return self._answers(
            [[token.text for token in instance["tokens"]][1:-1] for instance in instances]
        )

    @functools.cached_property
    def _language_model(self) -> LanguageModel:
        return LanguageModel(self._model.bilm, softmax_of(self._model))

    def _answers(self, sentences: list[list[str]]) -> list[JsonDict]:
        return list(map(_answer, self._language_model.score(sentences)))


def _answer(score: Score) -> JsonDict:
    perplexity = Perplexity()
    perplexity.add(score)
    return {
        "tokens": score.tokens,
        "unknown": [not is_known for is_known in score.known],
        "forward_log_probs": score.forward.tolist(),
        "end_log_prob": score.end,
        "forward_perplexity": perplexity.forward,
        "backward_log_probs": score.backward.tolist(),
        "begin_log_prob": score.begin,
        "backward_perplexity": perplexity.backward,
    }
