import functools
from collections.abc import Sequence

import numpy
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN

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


def batch_char_ids(
    sentences: Sequence[Sequence[str]], max_characters: int = MAX_CHARACTERS
) -> torch.Tensor:
    """Returns the char ids of a batch: shape (batch, length, max_characters), padded with zeros."""
    shape = len(sentences), max(map(len, sentences), default=0), max_characters
    char_ids = numpy.zeros(shape, numpy.int64)
    for row, words in zip(char_ids, sentences):
        found = b"".join([_bytes(word, max_characters) for word in words])
        row[: len(words)] = numpy.frombuffer(found, numpy.int16).reshape(-1, max_characters)
    return torch.from_numpy(char_ids)


# A word takes about 300 bytes.
@functools.lru_cache(100_000)
def _bytes(word: str, max_characters: int) -> bytes:
    return numpy.array(word_char_ids(word, max_characters), numpy.int16).tobytes()


def check_char_ids(char_ids: torch.Tensor, max_characters: int) -> None:
    """Raises `ConfigurationError` if the shape is not (batch, length, max_characters)."""
    if char_ids.dim() != 3 or char_ids.size(2) != max_characters:
        raise ConfigurationError(
            f"char ids must have shape (batch, length, {max_characters}), but have "
            f"{tuple(char_ids.shape)}; the indexers elmo_char_ids and elmo_characters give "
            f"{MAX_CHARACTERS} for each token"
        )
