import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import MetadataField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token

from elmo_tasks.common.columns import CONLL_2012, ROLES, check_columns
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.coref_file import read_coref
from elmo_tasks.readers.coref_json import Span
from elmo_tasks.readers.fields import GenreField
from elmo_tasks.readers.text_reader import DocumentField, TextReader

logger = logging.getLogger(__name__)


@DatasetReader.register("elmo_coref")
class CorefReader(TextReader):
    """
    Reads documents with coreference from files in the format of CoNLL-2012 (Pradhan et al. 2012;
    see `read_coref`), or from JSON lines (see `read_json_lines`). A file is read as a stream.

    Each part of a document is an instance, with the fields `tokens`, `genre` and `metadata`.
    `metadata` has clusters of only one mention as `singletons`. The model never predicts such a
    cluster, so each singleton counts as missed, as in the official scorer. The log counts the
    singletons, and warns if the file has no mention, or no mention of one word.

    Registered as a `DatasetReader` with name "elmo_coref".

    # Parameters

    columns: Names of all columns of the file (see `read_coref`). By default, the columns of
        CoNLL-2012.
    genre_pattern: A regular expression for the beginning of a document's name. Its only group is
        the genre. A document whose name does not match has no genre.
    language: spaCy's code of the language. Predictors cut raw text by spaCy's rules for it.
    token_indexers: By default word ids under the name `tokens`.
    """

    def __init__(
        self,
        columns: list[str] = None,
        genre_pattern: str = "([a-z]{2})/",
        language: str = "en",
        token_indexers: dict[str, TokenIndexer] = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.columns = columns or CONLL_2012
        self.genre_pattern = _pattern(genre_pattern)
        self.language = language
        optional = [name for name in ("speaker", ROLES) if name in self.columns]
        check_columns(self.columns, ("word", "coreference", *optional))

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        num_alone = 0
        lengths: set[int] = set()
        for document in self.shard_iterable(read_coref(file_path, self.columns)):
            num_alone += sum(len(cluster) == 1 for cluster in document.clusters)
            mentions = chain.from_iterable(document.clusters)
            lengths.update(end - start for start, end in mentions)
            genre = self.genre_pattern.match(document.name)
            yield self.text_to_instance(
                document.sentences,
                document.speakers,
                genre[1] if genre else None,
                document.clusters,
            )
        if num_alone:
            message = "%s: %d clusters of one mention count as missed; the model predicts none"
            logger.info(message, file_path, num_alone)
        if not self.reads_whole_files:
            return
        if not lengths:
            logger.warning("%s: there is no mention in the documents", file_path)
        elif min(lengths) > 1:
            message = "%s: no mention has one word; is the end of a mention its last word?"
            logger.warning(message, file_path)

    def text_to_instance(
        self,
        sentences: Sequence[Sequence[str]],
        speakers: Sequence[str] | None = None,
        genre: str | None = None,
        clusters: list[list[Span]] | None = None,
    ) -> Instance:
        """
        # Parameters

        sentences: At least one sentence, each of at least one word.
        speakers: The speaker of each word. By default all words have the same speaker.
        genre: A genre of the training data; any other genre counts as no genre.
        clusters: The gold clusters, as lists of mentions. A mention `(start, end)` is the
            document's `words[start:end]`.
        """
        num_words = sum(map(len, sentences))
        metadata: dict[str, Any] = {
            "sentences": sentences,
            "speakers": [""] * num_words if speakers is None else speakers,
        }
        if clusters is not None:
            metadata["clusters"] = [cluster for cluster in clusters if len(cluster) > 1]
            singletons = [cluster for cluster in clusters if len(cluster) == 1]
            if singletons:
                metadata["singletons"] = singletons
        return Instance(
            {
                "tokens": DocumentField(
                    [[Token(word) for word in sentence] for sentence in sentences]
                ),
                "genre": GenreField(genre),
                "metadata": MetadataField(metadata),
            }
        )


def gold_clusters(metadata: Mapping[str, Any]) -> list[list[Span]]:
    """Returns the clusters in the metadata of an instance, including clusters of one mention."""
    return [*metadata["clusters"], *metadata.get("singletons", ())]


def _pattern(text: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
        if pattern.groups != 1:
            raise re.error("it must have exactly one group in brackets, which is the genre")
    except re.error as error:
        raise ConfigurationError(f"genre_pattern {text!r}: {error}") from error
    return pattern
