import functools
from collections.abc import Iterable, Sequence

import numpy
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN

# Character ids: 0 is the padding of a batch; 1 to 256 are the bytes of UTF-8, each plus 1; the next
# four mark where sentences and words begin and end; `PAD_CHARACTER` is the padding within a token.
NUM_CHARACTERS = 262
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PAD_CHARACTER = 257, 258, 259, 260, 261

_BOUNDARIES = {BEGIN_TOKEN: BEGIN_SENTENCE, END_TOKEN: END_SENTENCE}

# Characters per token in every released biLM, and the most that options may ask for.
MAX_CHARACTERS, MOST_CHARACTERS = 50, 256


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
        content = b"".join([_bytes(word, max_characters) for word in words])
        row[: len(words)] = numpy.frombuffer(content, numpy.int16).reshape(-1, max_characters)
    return torch.from_numpy(char_ids)


# A word takes about 300 bytes.
@functools.lru_cache(100_000)
def _bytes(word: str, max_characters: int) -> bytes:
    return numpy.array(word_char_ids(word, max_characters), numpy.int16).tobytes()


def num_characters(sentences: Iterable[Iterable[str]]) -> int:
    """
    Returns the number of char ids that each token of a batch gets: 50, or as many as the longest
    word needs with a padding character after it, but at most 256. Thus a word without padding was
    cut. A biLM may read fewer char ids (see `fitted_char_ids`).
    """
    # A character has at most 4 bytes.
    long_words = (
        word for words in sentences for word in words if 4 * len(word) >= MAX_CHARACTERS - 2
    )
    longest = max((len(word.encode("utf-8", "ignore")) for word in long_words), default=0)
    return max(MAX_CHARACTERS, min(longest + 3, MOST_CHARACTERS))


def fitted_char_ids(char_ids: torch.Tensor, max_characters: int) -> torch.Tensor:
    """
    Cuts or pads char ids to the `max_characters` per token that a biLM reads: shape (batch, length,
    max_characters). A longer word is cut, as by `word_char_ids`.

    # Raises

    `ConfigurationError`: The ids do not have three dimensions. Or they have fewer characters than
        the biLM reads, and a word without padding may have been cut.
    """
    width = char_ids.size(-1) if char_ids.dim() == 3 else 0
    if width == max_characters:
        return char_ids
    if width > max_characters:
        char_ids = char_ids[..., :max_characters].clone()
        last = char_ids[..., -1]
        # A byte in the last place takes that of the mark for the end.
        last[(last > 0) & (last < BEGIN_SENTENCE)] = END_WORD
        return char_ids
    if width == 0 or bool((char_ids[..., -1] != PAD_CHARACTER)[char_ids[..., 0] > 0].any()):
        raise ConfigurationError(
            f"expected char ids of shape (batch, length, {max_characters}), with all "
            f"characters of long words, but got {tuple(char_ids.shape)}; make them by the "
            f"indexer elmo_char_ids or by batch_char_ids(sentences, {max_characters})"
        )
    tokens = char_ids[..., :1] > 0
    padding = PAD_CHARACTER * tokens.expand(-1, -1, max_characters - width)
    return torch.cat([char_ids, padding], dim=-1)
