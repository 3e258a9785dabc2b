import re
from collections.abc import Iterable
from itertools import chain, islice, repeat
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.common.columns import is_document
from elmo_tasks.predictors.inputs import Text, are_words, check_texts
from elmo_tasks.predictors.text_predictor import Task, TextPredictor, one_line
from elmo_tasks.readers.coref_file import CorefDocument, read_coref
from elmo_tasks.readers.coref_json import speakers_of
from elmo_tasks.readers.spacy_pipeline import split_sentences
from elmo_tasks.readers.tokenizers import tokens_of


@Predictor.register("elmo_coref")
class CorefPredictor(TextPredictor):
    """
    Finds the mentions in a document that refer to the same thing. An input is `{"document":
    "..."}`, raw text that is cut by spaCy's rules, or `{"sentences": [["...", ...], ...]}`, the
    tokens of each sentence. It may have a `"genre"` that the training data has. It may have
    `"speakers"`: the speaker of each sentence, or for each sentence a list with the speaker of each
    token. By default all tokens have the same speaker.

    An answer has `document` (the text), `sentences` (their tokens) and `clusters` of two mentions
    or more. A mention has a span (see `Text.span`), the index of its `sentence`, an `antecedent`
    (the index of an earlier mention in the cluster) and the antecedent's `probability`; both are
    null for the first mention. In text, an answer is the document and a line for each cluster.

    Registered as a `Predictor` with name "elmo_coref".
    """

    input_names = ("document",)
    other_names = ("sentences", "speakers", "genre")
    columns_of_answer = ("clusters", "sentences")
    task = Task(
        "coref",
        "Coref",
        "Coreference: gives one colour to all words that stand for the same person or thing.",
        (
            {
                "document": "Anna took her dog to the park. The dog saw a boat and barked at it, "
                "so she took him home."
            },
            {
                "document": "The sisters opened a bakery in 1911. They sold it to their cousin, "
                "who never baked."
            },
        ),
        drawing="coreference",
        comparison="links",
    )
    max_tokens = 4096

    def inputs_of(self, path: str, first_line: str) -> Iterable[JsonDict] | None:
        if not is_document(first_line):
            return None
        reader = self._dataset_reader
        return map(_as_input, read_coref(path, reader.columns), repeat(reader.genre_pattern))

    def readable(self, answer: JsonDict) -> list[str]:
        return [one_line(answer["document"])] + [
            one_line("", *(mention["text"] for mention in cluster))
            for cluster in answer["clusters"]
        ]

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        metadata = instance["metadata"].metadata
        sentences = [list(sentence) for sentence in metadata["sentences"]]
        # Documents that the reader read from a file have sentences, but no raw text.
        document = metadata.get("document") or Text.of_words(chain.from_iterable(sentences))
        indices = [index for index, sentence in enumerate(sentences) for _ in sentence]
        return {
            "document": document.text,
            "sentences": sentences,
            "clusters": [
                [
                    {
                        "sentence": indices[mention.start],
                        **document.span(mention.start, mention.end),
                        "antecedent": mention.antecedent,
                        "probability": mention.probability,
                    }
                    for mention in cluster
                ]
                for cluster in output["clusters"]
            ],
        }

    def instance_of(self, json_dict: JsonDict) -> Instance:
        document, sentences = self._document(json_dict)
        genre = json_dict.get("genre")
        if genre is not None and not isinstance(genre, str):
            raise ValueError(f"genre must be text, but is {genre!r:.200}")
        instance = self._dataset_reader.text_to_instance(
            sentences, speakers_of(json_dict.get("speakers"), sentences), genre
        )
        instance["metadata"].metadata["document"] = document
        return instance

    def _document(self, inputs: Any) -> tuple[Text, list[list[str]]]:
        """Returns the text of a document and the words of its sentences."""
        if not isinstance(inputs, dict) or "sentences" not in inputs:
            check_texts(inputs, ("document",), ' or {"sentences": [["one", "word", "each"]]}')
            sentences = split_sentences(inputs["document"], self._dataset_reader.language)
            tokens = list(map(tokens_of, sentences))
            document = Text(inputs["document"], list(chain.from_iterable(tokens)))
            return document, [
                [token.ensure_text() for token in sentence_tokens] for sentence_tokens in tokens
            ]
        words = inputs["sentences"]
        if not isinstance(words, list) or not all(
            sentence_words and are_words(sentence_words) for sentence_words in words
        ):
            raise ValueError(f"sentences must be lists of words, but are {words!r:.200}")
        if not words:
            raise ValueError("there is no word in the document")
        return Text.of_words(chain.from_iterable(words)), words


def _as_input(document: CorefDocument, genre_pattern: re.Pattern[str]) -> JsonDict:
    speakers = iter(document.speakers)
    json_dict: JsonDict = {
        "sentences": document.sentences,
        "speakers": [list(islice(speakers, len(words))) for words in document.sentences],
    }
    genre = genre_pattern.match(document.name)
    return {**json_dict, "genre": genre[1]} if genre else json_dict
