from typing import Any

import torch
from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import Token
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.models.crf_tagger import CrfTagger
from elmo_tasks.predictors.inputs import joined_tokens, sentence_input, span_of
from elmo_tasks.predictors.text_predictor import TextPredictor
from elmo_tasks.readers.entities import Entity
from elmo_tasks.readers.tag import TagReader


@Predictor.register("elmo_ner")
class NerPredictor(TextPredictor):
    """
    Finds the named entities of a sentence. An input is `{"sentence": "..."}`, raw text that the
    dataset reader's tokenizer cuts, or `{"tokens": ["...", ...]}`. The text of tokens is the tokens
    with a blank between them.

    An answer has `sentence` (the text), `tokens`, `tags` (one for each token) and `entities`. An
    entity has a `type`, a `text`, `tokens` and `characters` (each its start and exclusive end) and
    a `confidence`: the marginal probability that exactly these tokens are an entity of this type,
    over all sequences of tags that the scheme allows.

    Registered as a `Predictor` with name "elmo_ner". `--predictor-args` sets the parameters, as in
    `elmo-tasks predict model.tar.gz in.jsonl --predictor-args '{"top_k": 3}'`.

    # Parameters

    top_k (default `0`): Number of the best sequences of tags to give as `paths`, the best first.
        Each has `tags`, `entities` and a `probability`. A short sentence may have fewer sequences.
    format: As in `TextPredictor`. In text, an answer is the sentence with its entities marked, such
        as `[PER John Smith] lives in [LOC New York].` With `top_k`, an answer has such a line for
        each path, beginning with its probability.
    column, split: As in `TextPredictor`.
    """

    _model: CrfTagger
    input_names = ("sentence",)
    other_names = ("tokens",)

    def __init__(
        self,
        model: CrfTagger,
        dataset_reader: DatasetReader,
        top_k: int = 0,
        format: str = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, dataset_reader, format=format, **kwargs)
        if type(top_k) is not int or top_k < 0:
            raise ConfigurationError(f"top_k must be a whole number of at least 0, not {top_k!r}")
        self.top_k = top_k

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        for instance in instances:
            self._dataset_reader.apply_token_indexers(instance)
        outputs = self._model.forward_on_instances(instances)
        return [self._answer(*pair) for pair in zip(instances, outputs)]

    def readable(self, answer: JsonDict) -> list[str]:
        return _readable(answer)

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        reader = self._dataset_reader
        if isinstance(reader, TagReader):
            json_dict = reader.asked(json_dict)
        text, tokens = sentence_input(json_dict, reader.tokenizer.tokenize)
        instance = reader.text_to_instance(tokens)
        instance["metadata"].metadata["sentence"] = text
        return instance

    def _answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        words, tokens = output["tokens"], instance["tokens"].tokens
        text = instance["metadata"].metadata.get("sentence")
        if text is None:
            # Sentences that the reader read from a file have tokens, but no raw text.
            text, tokens = " ".join(words), joined_tokens(words)
        answer: JsonDict = {
            "sentence": text,
            "tokens": words,
            "tags": output["tags"],
            "entities": [
                {**_entity(text, tokens, span), "confidence": confidence}
                for span, confidence in zip(output["entities"], output["confidences"])
            ],
        }
        if self.top_k:
            logits = torch.as_tensor(output["logits"][: len(words)])
            answer["paths"] = [
                {
                    "probability": path.probability,
                    "tags": path.tags,
                    "entities": [_entity(text, tokens, span) for span in path.entities],
                }
                for path in self._model.best_paths(logits, self.top_k)
            ]
        return answer


def _entity(text: str, tokens: list[Token], entity: Entity) -> JsonDict:
    return {"type": entity.type, **span_of(text, tokens, entity.start, entity.end)}


def _readable(answer: JsonDict) -> list[str]:
    """Returns the text with its entities marked, on one line, or on one line for each path."""
    text = answer["sentence"]
    if "paths" not in answer:
        return [_marked(text, answer["entities"])]
    return [
        f"{path['probability']:.4f} {_marked(text, path['entities'])}" for path in answer["paths"]
    ]


def _marked(text: str, entities: list[JsonDict]) -> str:
    for entity in reversed(entities):
        start, end = entity["characters"]
        marked = " ".join(filter(None, [entity["type"], entity["text"]]))
        text = f"{text[:start]}[{marked}]{text[end:]}"
    return " ".join(text.splitlines())
