from typing import Any, NamedTuple

import torch
from allennlp.common.util import JsonDict
from allennlp.data import Batch, Instance, Token
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor

from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.predictors.inputs import sentence_input
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line

# Number of tokens whose softmax is in memory at a time.
_TOKENS = 64


class _Request(NamedTuple):
    """
    A checked input.

    # Parameters

    words : `list[str]`
        At least one word.
    asked : `int | None`
        The index of the word for which the best words are wanted, if they are.
    top_k : `int`
        Number of best words.
    """

    words: list[str]
    asked: int | None = None
    top_k: int = 0


@Predictor.register("elmo_language_model")
class LanguageModelPredictor(TextPredictor):
    """
    Predicts how likely the words of a sentence are. An input is `{"sentence": "..."}`, which is cut
    at its blanks as the training text is, or `{"tokens": ["...", ...]}`. An answer has

    - `tokens`;
    - `unknown`: for each token, whether it is missing from the vocabulary. All such tokens share
      one probability;
    - `forward_log_probs` and `backward_log_probs`: the log probability of each token given those
      before it, and given those after it;
    - `end_log_prob` and `begin_log_prob`: the log probability of the sentence's end in the forward
      direction, and of its beginning in the backward direction;
    - `forward_perplexity` and `backward_perplexity`, which include the end or the beginning.

    With `"place": 3, "top_k": 5` beside the sentence, an answer also has `best`: the 5 most
    probable words for the token with index 3, whichever word the sentence has there. They are given
    for `forward`, for `backward` and for `both`, the normalised product of the two distributions.
    `top_k` is 10 by default. In text, an answer is the two perplexities and the tokens.

    Registered as a `Predictor` with name "elmo_language_model". Its parameters are those of
    `TextPredictor`.
    """

    _model: ElmoLanguageModel
    input_names = ("sentence",)
    other_names = ("tokens", "place", "top_k")
    # The instances of an evaluation may be windows of a running text.
    answers_instances = False

    def readable(self, answer: JsonDict) -> list[str]:
        perplexities = answer["forward_perplexity"], answer["backward_perplexity"]
        return [one_line(*perplexities, " ".join(answer["tokens"]))]

    def answers(self, inputs: list[JsonDict]) -> list[JsonDict]:
        requests = [self._request(each) for each in inputs]
        return self._answers(self._batch_json_to_instances(inputs), requests)

    def predict_instance(self, instance: Instance) -> JsonDict:
        return self.predict_batch_instance([instance])[0]

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        # The first and the last token are the boundaries.
        words = [[token.text for token in instance["tokens"]][1:-1] for instance in instances]
        return self._answers(instances, [_Request(each) for each in words])

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(self._request(json_dict).words)

    def _request(self, inputs: JsonDict) -> _Request:
        return _parse_request(inputs, self._model.softmax.num_classes)

    @torch.no_grad()
    def _answers(self, instances: list[Instance], requests: list[_Request]) -> list[JsonDict]:
        for instance in instances:
            self._dataset_reader.apply_token_indexers(instance)
        batch = Batch(instances)
        batch.index_instances(self._model.vocab)
        tensors = move_to_device(batch.as_tensor_dict(), self._model.softmax.weight.device)
        forward, backward = self._model.contexts(tensors["tokens"])
        word_ids = tensors["tokens"]["tokens"]["tokens"]
        rows = zip(requests, word_ids, forward, backward)
        return [self._answer(*row) for row in rows]

    def _answer(
        self,
        request: _Request,
        word_ids: torch.Tensor,
        forward: torch.Tensor,
        backward: torch.Tensor,
    ) -> JsonDict:
        """Returns the answer for a sentence, given its rows of the batch, padding included."""
        end = len(request.words) + 1
        *ahead, end_log_prob = self._log_probs(forward[1 : end + 1], word_ids[1 : end + 1])
        begin_log_prob, *back = self._log_probs(backward[:end], word_ids[:end])
        unknown = self._model.vocab.get_token_index(self._model.vocab._oov_token)
        answer: dict[str, Any] = {
            "tokens": request.words,
            "unknown": (word_ids[1:end] == unknown).tolist(),
            "forward_log_probs": ahead,
            "end_log_prob": end_log_prob,
            "forward_perplexity": _perplexity([*ahead, end_log_prob]),
            "backward_log_probs": back,
            "begin_log_prob": begin_log_prob,
            "backward_perplexity": _perplexity([begin_log_prob, *back]),
        }
        if request.asked is not None:
            # Position 0 is the boundary.
            position = request.asked + 1
            answer["best"] = self._best(forward[position], backward[position], request.top_k)
        return answer

    def _log_probs(self, contexts: torch.Tensor, word_ids: torch.Tensor) -> list[float]:
        parts = zip(contexts.split(_TOKENS), word_ids.split(_TOKENS))
        return torch.cat([-self._model.softmax(h, words) for h, words in parts]).tolist()

    def _best(self, forward: torch.Tensor, backward: torch.Tensor, top_k: int) -> JsonDict:
        """Returns the best words for one token, by direction. The contexts have shape (dim,)."""
        # Shape: (2, words)
        scores = self._model.softmax.logits(torch.stack([forward, backward])).log_softmax(dim=1)
        both = scores.sum(dim=0).log_softmax(dim=0)
        directions = zip(("forward", "backward", "both"), (*scores, both))
        return {name: self._words(log_probs, top_k) for name, log_probs in directions}

    def _words(self, log_probs: torch.Tensor, top_k: int) -> list[JsonDict]:
        best, classes = log_probs.topk(top_k)
        # The softmax has no class for padding, which is word 0.
        words = [self._model.vocab.get_token_from_index(index + 1) for index in classes.tolist()]
        return [
            {"word": word, "probability": probability}
            for word, probability in zip(words, best.exp().tolist())
        ]


def _parse_request(inputs: JsonDict, num_words: int) -> _Request:
    found = sentence_input(inputs, _cut_at_blanks, options=("place", "top_k"))
    words = [token.text for token in found.tokens]
    if "place" not in inputs:
        return _Request(words)
    index, top_k = inputs["place"], inputs.get("top_k", min(10, num_words))
    if type(index) is not int or not 0 <= index < len(words):
        raise ValueError(
            f"place must be the index of a word, from 0 to {len(words) - 1}, but is {index!r} in "
            f"{inputs!r}"
        )
    if type(top_k) is not int or not 1 <= top_k <= num_words:
        raise ValueError(
            f"top_k must be from 1 to {num_words}, the size of the vocabulary, but is {top_k!r} in "
            f"{inputs!r}"
        )
    return _Request(words, index, top_k)


def _cut_at_blanks(text: str) -> list[Token]:
    return [Token(word) for word in text.split()]


def _perplexity(log_probs: list[float]) -> float:
    return torch.tensor(log_probs, dtype=torch.float64).mean().neg().exp().item()
