from typing import Any

import torch
from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import SequenceLabelField
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import check_at_least
from elmo_tasks.models.crf_tagger import CrfTagger
from elmo_tasks.predictors.inputs import Text, sentence_input
from elmo_tasks.predictors.text_predictor import Task, TextPredictor
from elmo_tasks.readers.entities import Entity, read_entities, write_tags


@Predictor.register("elmo_ner")
class NerPredictor(TextPredictor):
    """
    Finds the named entities of a sentence. An answer has `sentence` (the text), `tokens`, `tags`
    (one for each token) and `entities`. An entity has a `type`, a span (see `Text.span`) and a
    `confidence`: the marginal probability that exactly these tokens are an entity of this type,
    over all sequences of tags that the scheme allows.

    Registered as a `Predictor` with name "elmo_ner".

    # Parameters

    top_k (default `0`): Number of the best sequences of tags to give as `paths`, the best first,
        each with `tags`, `entities` and a `probability`.

    In text, an answer is a line such as `[PER John Smith] lives in [LOC New York].`; with `top_k`,
    one for each path, after its probability.
    """

    _model: CrfTagger
    task = Task(
        "ner",
        "NER",
        "Named entities: marks the persons, organizations, places and other names of a sentence.",
        (
            {"sentence": "Maria Lindqvist moved from Stockholm to Siemens in Munich."},
            {"sentence": "Washington beat Leeds 3-1 on Saturday, said coach Paul Reed."},
            {"sentence": "The World Bank lends Kenya money for the Nairobi railway."},
        ),
        drawing="entities",
        legend={
            "PER": "person",
            "ORG": "organization",
            "LOC": "place",
            "MISC": "other name, such as a nationality, an event or a work",
        },
        compared="entities",
        details={"top_k": 5},
    )

    def __init__(
        self, model: CrfTagger, dataset_reader: DatasetReader, top_k: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(model, dataset_reader, **kwargs)
        check_at_least("top_k", top_k, least=0)
        self.top_k = top_k

    def readable(self, answer: JsonDict) -> list[str]:
        text = answer["sentence"]
        if "paths" not in answer:
            return [_marked(text, answer["entities"])]
        return [
            f"{path['probability']:.4f} {_marked(text, path['entities'])}"
            for path in answer["paths"]
        ]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        """Returns an instance for each entity, or one for a sentence without entities."""
        tags = outputs["tags"]
        chosen = [
            write_tags([entity], len(tags), "BIOUL") for entity in read_entities(tags, "BIOUL")
        ] or [tags]
        labelled = [instance.duplicate() for _ in chosen]
        for each, one in zip(labelled, chosen):
            each.add_field("tags", SequenceLabelField(one, each["tokens"]), self._model.vocab)
        return labelled

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        sentence = sentence_input(json_dict, self._dataset_reader.tokenizer.tokenize)
        instance = self._dataset_reader.text_to_instance(sentence.tokens)
        instance["metadata"].metadata["sentence"] = sentence
        return instance

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        words = output["tokens"]
        # Sentences that the reader read from a file have tokens, but no raw text.
        sentence = instance["metadata"].metadata.get("sentence") or Text.of_words(words)
        answer: JsonDict = {
            "sentence": sentence.text,
            "tokens": words,
            "tags": output["tags"],
            "entities": [
                {**_entity(sentence, entity), "confidence": confidence}
                for entity, confidence in zip(output["entities"], output["confidences"])
            ],
        }
        if self.top_k:
            logits = torch.as_tensor(output["logits"][: len(words)])
            answer["paths"] = [
                {
                    "probability": path.probability,
                    "tags": path.tags,
                    "entities": [_entity(sentence, entity) for entity in path.entities],
                }
                for path in self._model.best_paths(logits, self.top_k)
            ]
        return answer


def _entity(sentence: Text, entity: Entity) -> JsonDict:
    return {"type": entity.type, **sentence.span(entity.start, entity.end)}


def _marked(text: str, entities: list[JsonDict]) -> str:
    for entity in reversed(entities):
        start, end = entity["characters"]
        marked = " ".join(filter(None, [entity["type"], entity["text"]]))
        text = f"{text[:start]}[{marked}]{text[end:]}"
    return " ".join(text.splitlines())
