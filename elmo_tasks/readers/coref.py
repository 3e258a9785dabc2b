import logging
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import MetadataField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token

from elmo_tasks.common.columns import CONLL_2012, ROLES, check_columns
from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.coref_file import Span, read_coref
from elmo_tasks.readers.label_fields import GenreField
from elmo_tasks.readers.text_reader import MAX_NAMED, SKIP_OR_REFUSE, DocumentField, TextReader

logger = logging.getLogger(__name__)


@DatasetReader.register("elmo_coref")
class CorefReader(TextReader):
    """
    Reads documents with coreference from files in the format of CoNLL-2012 (Pradhan et al. 2012),
    which `read_coref` describes. A file is read as a stream.

    Each part of a document is an instance, with the fields `tokens`, `genre` and `metadata`.

    Registered as a `DatasetReader` with name "elmo_coref".

    # Parameters

    columns: Names of all columns of the file (see `read_coref`); by default those of CoNLL-2012.
    genre_pattern (default `'([a-z]{2})/'`): A regular expression for the beginning of a document's
        name, whose only group is the genre. A document whose name does not match has no genre. As a
        pattern may come with a stranger's archive, it must be quick for any name: it may repeat no
        group, and have at most three of `*`, `+`, `?`, `{` and `(?:`.
    singletons (default `False`): Whether clusters of only one mention are kept. The model predicts
        no such cluster, so those kept count as missed.
    wrong_mentions (default `'refuse'`): Whether the reader refuses wrong mentions (see
        `read_coref`), or with `skip` leaves them out, and logs their number as a warning.
    max_words (default `25000`): At most this many words in a document, to limit the model's memory.
    language (default `'en'`): spaCy's code of the language, by whose rules predictors cut raw text.
    token_indexers: By default word ids under the name `tokens`.
    """

    def __init__(
        self,
        columns: list[str] = None,
        genre_pattern: str = "([a-z]{2})/",
        singletons: bool = False,
        wrong_mentions: str = "refuse",
        max_words: int = 25000,
        language: str = "en",
        token_indexers: dict[str, TokenIndexer] = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.columns = columns or CONLL_2012
        self.genre_pattern = _pattern(genre_pattern)
        check_choice("wrong_mentions", wrong_mentions, SKIP_OR_REFUSE)
        self.singletons = singletons
        self.wrong_mentions = wrong_mentions
        self.max_words = max_words
        self.language = language
        optional = [name for name in ("speaker", ROLES) if name in self.columns]
        check_columns(self.columns, ("word", "coreference", *optional))

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        left_out = 0
        documents = read_coref(file_path, self.columns, self.wrong_mentions == "skip")
        for document in self.shard_iterable(documents):
            for reason in document.left_out[: max(0, MAX_NAMED - left_out)]:
                logger.warning("%s:%s; the mention is left out", file_path, reason)
            left_out += len(document.left_out)
            genre = self.genre_pattern.match(document.name)
            with at_line(file_path, document.line_number):
                yield self.text_to_instance(
                    document.sentences,
                    document.speakers,
                    genre[1] if genre else None,
                    document.clusters,
                )
        if left_out:
            logger.warning("%s: %d wrong mentions are left out", file_path, left_out)

    def text_to_instance(
        self,
        sentences: Sequence[Sequence[str]],
        speakers: Sequence[str] | None = None,
        genre: str | None = None,
        clusters: list[list[Span]] | None = None,
    ) -> Instance:
        """
        # Parameters

        sentences: At least one sentence, each of at least one word. Raises `ValueError` if there
            are more than `max_words` words.
        speakers: The speaker of each word. By default all words have the same speaker.
        genre: A genre of the training data; any other genre counts as no genre.
        clusters: The gold clusters. A mention `(start, end)` is the document's `words[start:end]`.
        """
        num_words = sum(map(len, sentences))
        if num_words > self.max_words:
            raise ValueError(
                f"the document has {num_words:,} words, but max_words is {self.max_words:,}; "
                "divide the document, or raise the reader's max_words, which needs more memory"
            )
        metadata: dict[str, Any] = {
            "sentences": sentences,
            "speakers": [""] * num_words if speakers is None else speakers,
        }
        if clusters is not None:
            metadata["clusters"] = [
                cluster for cluster in clusters if self.singletons or len(cluster) > 1
            ]
        return Instance(
            {
                "tokens": DocumentField([[Token(word) for word in each] for each in sentences]),
                "genre": GenreField(genre),
                "metadata": MetadataField(metadata),
            }
        )


# A repeated group, or a group that is neither plain nor named nor (?: ... ).
_REPEATED_OR_STRANGE = re.compile(r"\)[*+?{]|\(\?[^:]")

# Repetitions and groups (?: ... ) can each match in several ways, and the numbers of ways multiply.
_CHOICE = re.compile(r"([*+?]|\{[\d,]*\})[?+]?")

_MOST_CHOICES, _MOST_CHARACTERS = 3, 200


def _pattern(text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ConfigurationError(
            f"genre_pattern {text!r} is no regular expression: {error}"
        ) from error
    unnamed = text.replace("(?P<", "(")
    num_choices = len(_CHOICE.findall(unnamed))
    if (
        pattern.groups != 1
        or _REPEATED_OR_STRANGE.search(unnamed)
        or num_choices > _MOST_CHOICES
        or len(text) > _MOST_CHARACTERS
    ):
        raise ConfigurationError(
            "genre_pattern must have one group in brackets, which is the genre and is not "
            f"repeated; it may have at most {_MOST_CHOICES} of * + ? {{ and (?: and at most "
            f"{_MOST_CHARACTERS} characters; but it is {text!r:.200}"
        )
    return pattern
