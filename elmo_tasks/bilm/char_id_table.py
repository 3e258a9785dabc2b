import numpy
import torch

from elmo_tasks.bilm.characters import MAX_CHARACTERS, word_char_ids


class CharIdTable:
    """
    Remembers the char ids of the words met so far, so that a batch of text becomes a tensor by one
    look-up per token.

    # Parameters

    max_words : `int`, optional (default = `100_000`)
        The table is emptied when it holds more words than this. A word takes about 300 bytes.
    """

    def __init__(self, max_words: int = 100_000) -> None:
        self._max_words = max_words
        self._forget()

    def char_ids(self, sentences: list[list[str]]) -> torch.Tensor:
        """Returns char ids of shape (batch, length, 50), with zeros at padding."""
        if len(self._rows) > self._max_words:
            self._forget()
        # Shape: (batch, length)
        rows = numpy.zeros((len(sentences), max(map(len, sentences), default=0)), numpy.int64)
        for row, words in zip(rows, sentences):
            row[: len(words)] = [self._row(word) for word in words]
        return torch.from_numpy(self._char_ids[rows].astype(numpy.int64))

    def _forget(self) -> None:
        self._rows: dict[str, int] = {}
        # Row 0 is padding.
        self._char_ids = numpy.zeros((1024, MAX_CHARACTERS), numpy.int16)

    def _row(self, word: str) -> int:
        row = self._rows.get(word)
        if row is None:
            row = self._rows[word] = len(self._rows) + 1
            if row == len(self._char_ids):
                self._char_ids = numpy.concatenate([self._char_ids, 0 * self._char_ids])
            self._char_ids[row] = word_char_ids(word)
        return row
