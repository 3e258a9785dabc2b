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
        self._indexers: list[ELMoTokenCharactersIndexer] = []
        # Maps (index of an indexer, word) to the row of the word's char ids.
        self._rows: dict[tuple[int, str], int] = {}
        char_ids: list[list[int]] = []
        texts: dict[bytes, None] = {}
        for instance in instances:
            for tokens, indexer in _texts(instance.fields.values()):
                # Each reader has an indexer of its own, but equal indexers make the same char ids.
                if indexer not in self._indexers:
                    self._indexers.append(indexer)
                index = self._indexers.index(indexer)
                rows = [self._row(token, index, char_ids) for token in tokens]
                if rows:
                    texts[numpy.array(rows, numpy.int32).tobytes()] = None
        self._texts = list(texts)
        # Shape: (distinct words, 50)
        self._char_ids = numpy.array(char_ids, numpy.int16)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: int) -> numpy.ndarray:  # type: ignore[override]
        return self._char_ids[numpy.frombuffer(self._texts[index], numpy.int32)]

    def _row(self, token: Token, indexer: int, char_ids: list[list[int]]) -> int:
        word = indexer, token.ensure_text()
        row = self._rows.get(word)
        if row is None:
            row = self._rows[word] = len(char_ids)
            # This indexer needs no vocabulary.
            char_ids.extend(self._indexers[indexer].tokens_to_indices([token], None)["elmo_tokens"])
        return row


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
