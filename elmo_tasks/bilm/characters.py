from collections.abc import Sequence

import numpy
import torch

from elmo_tasks.common.boundaries import BEGIN_TOKEN, END_TOKEN
from elmo_tasks.common.errors import ConfigurationError

# Character ids: 0 is the padding of a batch; 1 to 256 are the bytes of UTF-8, each plus 1; the next
# four mark where sentences and words begin and end; `PAD_CHARACTER` is the padding within a token.
NUM_CHARACTERS = 262
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PAD_CHARACTER = 257, 258, 259, 260, 261

_BOUNDARIES = {BEGIN_TOKEN: BEGIN_SENTENCE, END_TOKEN: END_SENTENCE}

# Characters per token in every released biLM.
MAX_CHARACTERS = 50


def word_char_ids(word: str, max_characters: int = MAX_CHARACTERS) -> list[int]:
    """
    Returns the `max_characters` ids of a word, as AllenNLP's indexer `elmo_characters` gives them:
    a mark for the beginning, the bytes of the word, a mark for the end, padding. A longer word is
    cut.
    """
    if word in _BOUNDARIES:
        inner = [_BOUNDARIES[word]]
    else:
        inner = [byte + 1 for byte in word.encode("utf-8", "ignore")[: max_characters - 2]]
    char_ids = [BEGIN_WORD, *inner, END_WORD]
    return char_ids + [PAD_CHARACTER] * (max_characters - len(char_ids))


class CharIdTable:
    """
    Remembers the char ids of the words seen so far, so that a batch of text becomes a tensor by one
    look-up per token. Several threads may share a table.

    # Parameters

    max_characters (default `50`): The number of characters of a token.
    max_words (default `100_000`): If the table holds more words than this, it is emptied. A word
        takes about 300 bytes.
    """

    def __init__(self, max_characters: int = MAX_CHARACTERS, max_words: int = 100_000) -> None:
        self._max_characters = max_characters
        self._max_words = max_words
        # The bytes of each word's char ids.
        self._rows: dict[str, bytes] = {}

    def char_ids(self, sentences: Sequence[Sequence[str]]) -> torch.Tensor:
        """Returns char ids of shape (batch, length, max_characters), with zeros at padding."""
        if len(self._rows) > self._max_words:
            # A new dictionary, because another thread may still read the old one.
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


def batch_char_ids(
    sentences: Sequence[Sequence[str]], max_characters: int = MAX_CHARACTERS
) -> torch.Tensor:
    """Returns the char ids of a batch: shape (batch, length, max_characters), padded with zeros."""
    return CharIdTable(max_characters).char_ids(sentences)


def check_char_ids(char_ids: torch.Tensor, max_characters: int) -> None:
    """Raises `ConfigurationError` if char ids have another shape than (batch, length, 50)."""
    if char_ids.dim() != 3 or char_ids.size(2) != max_characters:
        raise ConfigurationError(
            f"char ids must have shape (batch, length, {max_characters}), but have "
            f"{tuple(char_ids.shape)}; the indexers elmo_char_ids and elmo_characters give "
            f"{MAX_CHARACTERS} for each token"
        )
