from functools import cached_property
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import SequenceLabelField
from allennlp.predictors import Predictor

from elmo_tasks.models.crf_tagger import CrfTagger
from elmo_tasks.predictors.inputs import Text, sentence_input
from elmo_tasks.predictors.text_predictor import Task, TextPredictor, one_line
from elmo_tasks.readers.entities import Entity, write_tags
from elmo_tasks.readers.fields import TagsField, written_scheme
from elmo_tasks.readers.tag_scheme import TagScheme


@Predictor.register("elmo_tag")
class TagPredictor(TextPredictor):
    """
    Tags the tokens of a sentence. An answer has `tokens`, `tags` (one for each token) and the
    `probabilities` of the tags. In text, an answer is the tokens, each with a slash and its tag.

    Registered as a `Predictor` with name "elmo_tag".
    """

    other_names = ("tokens", "text")
    columns_of_answer = ("tags", "tokens")
    task = Task(
        "tag",
        "Tag",
        "Gives each word one of the tags of the data that the model was trained on.",
        drawing="tags",
        comparison="tags",
        explained=True,
    )

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        return {name: output[name] for name in ("tokens", "tags", "probabilities")}

    def readable(self, answer: JsonDict) -> list[str]:
        pairs = zip(answer["tokens"], answer["tags"])
        return [one_line(" ".join(f"{word}/{tag}" for word, tag in pairs))]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        """Returns an instance for each token. In each instance, only one token has a label."""
        tags = outputs["tags"]
        labelled = [instance.duplicate() for _ in tags]
        for index, instance_of_tag in enumerate(labelled):
            # No model knows the empty tag.
            tags_of_one = [tag if index == other else "" for other, tag in enumerate(tags)]
            instance_of_tag.add_field(
                "tags", TagsField(tags_of_one, instance_of_tag["tokens"]), self._model.vocab
            )
        return labelled


@Predictor.register("elmo_ner")
class NerPredictor(TextPredictor):
    """
    Finds the named entities of a sentence. An answer has `sentence` (the text), `tokens`, `tags`
    (one for each token, written as in the training data) and `entities`. An entity has a `type`, a
    span (see `Text.span`) and a `confidence`: the marginal probability that exactly these tokens
    are an entity of this type, over all sequences of tags that the scheme allows. In text, an
    answer is a line such as `[PER John Smith] lives in [LOC New York].`

    Registered as a `Predictor` with name "elmo_ner".
    """

    _model: CrfTagger
    columns_of_answer = ("entities", "tags", "tokens")
    task = Task(
        "ner",
        "NER",
        "Named entities: marks the persons, organizations, places and other names of a sentence.",
        (
            {"sentence": "Maria Lindqvist moved from Stockholm to Siemens in Munich."},
            {"sentence": "Washington beat Leeds 3-1 on Saturday, said coach Paul Reed."},
        ),
        drawing="entities",
        legend={
            "PER": "person",
            "ORG": "organization",
            "LOC": "place",
            "MISC": "other name, such as a nationality, an event or a work",
        },
        comparison="entities",
    )

    def readable(self, answer: JsonDict) -> list[str]:
        text = answer["sentence"]
        for entity in reversed(answer["entities"]):
            start, end = entity["characters"]
            entity_text = " ".join(filter(None, [entity["type"], entity["text"]]))
            text = f"{text[:start]}[{entity_text}]{text[end:]}"
        return [" ".join(text.splitlines())]

    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        """Returns an instance for each entity, or one for a sentence without entities."""
        length, entities = len(outputs["tags"]), list(map(_entity, outputs["entities"]))
        tag_rows = [
            write_tags(entity, length, self._model.scheme) for entity in _each_alone(entities)
        ]
        labelled = [instance.duplicate() for _ in tag_rows]
        for copy, tags in zip(labelled, tag_rows):
            copy.add_field("tags", SequenceLabelField(tags, copy["tokens"]), self._model.vocab)
        return labelled

    @cached_property
    def _scheme(self) -> TagScheme:
        return written_scheme(self._model.vocab)

    def instance_of(self, json_dict: JsonDict) -> Instance:
        sentence = sentence_input(json_dict, self._dataset_reader.tokenizer.tokenize)
        instance = self._dataset_reader.text_to_instance(sentence.tokens)
        instance["metadata"].metadata["sentence"] = sentence
        return instance

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        words = output["tokens"]
        # Sentences that the reader read from a file have tokens, but no raw text.
        sentence = instance["metadata"].metadata.get("sentence") or Text.of_words(words)
        predictions = list(zip(output["entities"], output["confidences"]))
        return {
            "sentence": sentence.text,
            "tokens": words,
            # The model tags in BIOUL, whatever scheme its data are in.
            "tags": self._scheme.write([Entity(*entity) for entity, _ in predictions], len(words)),
            "entities": [
                {"type": type, **sentence.span(start, end), "confidence": confidence}
                for (type, start, end), confidence in predictions
            ],
        }


def _entity(entity: Entity | JsonDict) -> Entity:
    """Returns an entity of the model's output, or of an answer."""
    return (
        Entity(entity["type"], *entity["tokens"]) if isinstance(entity, dict) else Entity(*entity)
    )


def _each_alone(entities: list[Entity]) -> list[list[Entity]]:
    return [[entity] for entity in entities] or [[]]
