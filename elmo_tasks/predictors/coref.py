from collections.abc import Sequence
from typing import Any, NamedTuple

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.tokenizers import Token
from allennlp.predictors import Predictor

from elmo_tasks.common.json_text import check_characters
from elmo_tasks.predictors.answers import one_line
from elmo_tasks.predictors.inputs import Text, are_words
from elmo_tasks.predictors.text_predictor import Task, TextPredictor
from elmo_tasks.readers.spacy_pipeline import split_sentences
from elmo_tasks.readers.tokenizers import tokens_of


class _Document(NamedTuple):
    """The text of a document, and the tokens of its sentences with their offsets in the text."""

    text: str
    sentences: list[list[Token]]


@Predictor.register("elmo_coref")
class CorefPredictor(TextPredictor):
    """
    Finds the mentions in a document that refer to the same thing. An input is
    `{"document": "..."}`, raw text that spaCy's rules cut, or `{"sentences": [["...", ...], ...]}`,
    the tokens of each sentence. Both may have a `"genre"` of the training data. `"sentences"` may
    come with `"speakers"`, the speaker of each; by default all have the same speaker.

    An answer has `document` (the text), `sentences` (their tokens) and `clusters` of two mentions
    or more. A mention has a span (see `Text.span`), the index of its `sentence`, an `antecedent`
    (the index in the cluster of an earlier mention) and the antecedent's `probability`, both null
    for the first mention. In text, an answer is the document and a line for each cluster.

    Registered as a `Predictor` with name "elmo_coref".
    """

    input_names = ("document",)
    other_names = ("sentences", "speakers", "genre")
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
                "document": "The mayor of Vellmar has resigned. He told the town council that it "
                "had never listened to him."
            },
            {
                "document": "The sisters opened a bakery in 1911. They sold it to their cousin, "
                "who never baked."
            },
        ),
        drawing="coreference",
        compared="links",
    )
    max_tokens = 4096

    def readable(self, answer: JsonDict) -> list[str]:
        return [one_line(answer["document"])] + [
            one_line("", *(mention["text"] for mention in cluster))
            for cluster in answer["clusters"]
        ]

    def answer(self, instance: Instance, output: dict[str, Any]) -> JsonDict:
        metadata = instance["metadata"].metadata
        # Documents that the reader read from a file have sentences, but no raw text.
        document = metadata.get("document") or _joined(metadata["sentences"])
        indices = [index for index, each in enumerate(document.sentences) for _ in each]
        text = Text(document.text, [token for each in document.sentences for token in each])
        return {
            "document": document.text,
            "sentences": [[token.text for token in each] for each in document.sentences],
            "clusters": [
                [
                    {
                        "sentence": indices[mention.start],
                        **text.span(mention.start, mention.end),
                        "antecedent": mention.antecedent,
                        "probability": mention.probability,
                    }
                    for mention in cluster
                ]
                for cluster in output["clusters"]
            ],
        }

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        document = self._document(json_dict)
        genre = json_dict.get("genre")
        if genre is not None and not isinstance(genre, str):
            raise ValueError(f"genre must be text, but is {genre!r:.200}")
        instance = self._dataset_reader.text_to_instance(
            [[token.ensure_text() for token in each] for each in document.sentences],
            _speakers(json_dict, document.sentences),
            genre,
        )
        instance["metadata"].metadata["document"] = document
        return instance

    def _document(self, inputs: Any) -> _Document:
        match inputs:
            case {"document": str(text), **others} if others.keys().isdisjoint(
                ("sentences", "speakers")
            ):
                check_characters(text)
                sentences = split_sentences(text, self._dataset_reader.language)
                document = _Document(text, list(map(tokens_of, sentences)))
            case {"sentences": [*sentences], **others} if "document" not in others and all(
                sentence and are_words(sentence) for sentence in sentences
            ):
                document = _joined(sentences)
                check_characters(document.text)
            case _:
                raise ValueError(
                    'expected {"document": "raw text"}, optionally with "genre", or {"sentences": '
                    '[["one", "word", "each"]]}, optionally with "speakers" and "genre", but got '
                    f"{inputs!r:.200}"
                )
        if not document.sentences:
            raise ValueError("there is no word in the document")
        return document


def _joined(sentences: Sequence[Sequence[str]]) -> _Document:
    text = Text.of_words(word for sentence in sentences for word in sentence)
    tokens = iter(text.tokens)
    return _Document(text.text, [[next(tokens) for _ in each] for each in sentences])


def _speakers(inputs: JsonDict, sentences: list[list[Token]]) -> list[str] | None:
    """Returns the speaker of each word."""
    speakers = inputs.get("speakers")
    if speakers is None:
        return None
    if not isinstance(speakers, list) or not all(isinstance(each, str) for each in speakers):
        raise ValueError(f"speakers must be a list of names, but is {speakers!r:.200}")
    if len(speakers) != len(sentences):
        raise ValueError(
            f"there are {len(speakers)} speakers, but {len(sentences)} sentences; expected a "
            "speaker for each sentence"
        )
    return [speaker for speaker, sentence in zip(speakers, sentences) for _ in sentence]
