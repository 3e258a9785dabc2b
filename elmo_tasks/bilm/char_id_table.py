import numpy
import torch

from elmo_tasks.bilm.characters import MAX_CHARACTERS, word_char_ids


class CharIdTable:
    """
    Remembers the char ids of the words met so far, so that a batch of text becomes a tensor by one
    look-up per token. Several threads may share a table.

    # Parameters

    max_characters : `int`, optional (default = `50`)
        The number of characters of a token.
    max_words : `int`, optional (default = `100_000`)
        The table is emptied when it holds more words than this. A word takes about 300 bytes.
    """

    def __init__(self, max_characters: int = MAX_CHARACTERS, max_words: int = 100_000) -> None:
        self._max_characters = max_characters
        self._max_words = max_words
        # The bytes of each word's char ids.
        self._rows: dict[str, bytes] = {}

    def char_ids(self, sentences: list[list[str]]) -> torch.Tensor:
        """Returns char ids of shape (batch, length, max_characters), with zeros at padding."""
        if len(self._rows) > self._max_words:
            # Another thread may still read the old dictionary.
            self._rows = {}
        known = self._rows
        shape = len(sentences), max(map(len, sentences), default=0), self._max_characters
        char_ids = numpy.zeros(shape, numpy.int64)
        for row, words in zip(char_ids, sentences):
            found = b"".join([known.get(word) or self._row(known, word) for word in words])
            row[: len(words)] = numpy.frombuffer(found, numpy.int16).reshape(-1, shape[2])
        return torch.from_numpy(char_ids)

    def _row(self, known: dict[str, bytes], word: str) -> bytes:
        row = numpy.array(word_char_ids(word, self._max_characters), numpy.int16).tobytes()
        known[word] = row
        return row
