from collections.abc import Iterable, Iterator, Sequence

import numpy
from allennlp.data import Instance, Token
from allennlp.data.fields import ListField, TextField
from allennlp.data.fields.field import Field
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer

from elmo_tasks.readers.indexers import CharIdsIndexer
from elmo_tasks.readers.text_reader import sentences_of


class DistinctTexts(Sequence[numpy.ndarray]):
    """
    The distinct texts that a biLM would read from instances whose text fields have an ELMo indexer
    (`elmo_char_ids` or `elmo_characters`), each as char ids of shape (length, 50). Memory holds the
    char ids of each distinct word, and 4 bytes for each token of a text.
    """

    def __init__(self, instances: Iterable[Instance]) -> None:
        # Maps a word to the row of its char ids.
        known: dict[str, int] = {}
        char_ids: list[list[int]] = []
        texts: dict[bytes, None] = {}
        for instance in instances:
            for tokens, indexer in _texts(instance.fields.values()):
                for token in tokens:
                    if token.ensure_text() not in known:
                        known[token.ensure_text()] = len(char_ids)
                        # This indexer needs no vocabulary.
                        char_ids += indexer.tokens_to_indices([token], None)["elmo_tokens"]
                if tokens:
                    rows = [known[token.ensure_text()] for token in tokens]
                    texts[numpy.array(rows, numpy.int32).tobytes()] = None
        self._texts = list(texts)
        # Shape: (distinct words, 50)
        self._char_ids = numpy.array(char_ids, numpy.int16)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: int) -> numpy.ndarray:  # type: ignore[override]
        return self._char_ids[numpy.frombuffer(self._texts[index], numpy.int32)]


def _texts(fields: Iterable[Field]) -> Iterator[tuple[list[Token], ELMoTokenCharactersIndexer]]:
    for field in fields:
        if isinstance(field, ListField):
            yield from _texts(field.field_list)
        if isinstance(field, TextField):
            for indexer in field.token_indexers.values():
                if isinstance(indexer, CharIdsIndexer):
                    indexer = indexer.characters
                if isinstance(indexer, ELMoTokenCharactersIndexer):
                    for tokens in sentences_of(field):
                        yield tokens, indexer
