from collections.abc import Iterable, Iterator

import numpy
from allennlp.data import Instance, Token
from allennlp.data.fields import ListField, TextField
from allennlp.data.fields.field import Field
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer


class DistinctTexts:
    """
    Every text of some instances that a biLM would read, once: those of the fields with an indexer
    of type `elmo_characters`. A text takes 4 bytes a token.

    # Parameters

    instances : `Iterable[Instance]`
    """

    def __init__(self, instances: Iterable[Instance]) -> None:
        self._indexers: list[ELMoTokenCharactersIndexer] = []
        # Where the char ids of a word stand, by the number of the indexer that makes them.
        self._rows: dict[tuple[int, str], int] = {}
        char_ids: list[list[int]] = []
        texts: dict[bytes, None] = {}
        for instance in instances:
            for field, indexer in _fields(instance.fields.values()):
                # One for each reader, but alike.
                if indexer not in self._indexers:
                    self._indexers.append(indexer)
                number = self._indexers.index(indexer)
                rows = [self._row(token, number, char_ids) for token in field.tokens]
                if rows:
                    texts[numpy.array(rows, numpy.int32).tobytes()] = None
        self._texts = list(texts)
        # Shape: (distinct words, 50)
        self._char_ids = numpy.array(char_ids, numpy.int16)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, number: int) -> numpy.ndarray:
        """The char ids of a text: shape (length, 50)."""
        return self._char_ids[numpy.frombuffer(self._texts[number], numpy.int32)]

    def length(self, number: int) -> int:
        return len(self._texts[number]) // 4

    def _row(self, token: Token, number: int, char_ids: list[list[int]]) -> int:
        word = number, token.ensure_text()
        row = self._rows.get(word)
        if row is None:
            row = self._rows[word] = len(char_ids)
            # This indexer needs no vocabulary.
            char_ids.extend(self._indexers[number].tokens_to_indices([token], None)["elmo_tokens"])
        return row


def _fields(fields: Iterable[Field]) -> Iterator[tuple[TextField, ELMoTokenCharactersIndexer]]:
    for field in fields:
        if isinstance(field, ListField):
            yield from _fields(field.field_list)
        if isinstance(field, TextField):
            for indexer in field.token_indexers.values():
                if isinstance(indexer, ELMoTokenCharactersIndexer):
                    yield field, indexer
