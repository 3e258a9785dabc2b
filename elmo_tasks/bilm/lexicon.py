import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import embedding

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.common.characters import BEGIN_SENTENCE, END_SENTENCE, END_WORD, MAX_CHARACTERS
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.file_names import VOCABULARY_FILE
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN

# The word that stands for all words outside a vocabulary.
UNKNOWN_WORD = "<UNK>"

# A line in some vocabularies that is not a word. bilm-tf leaves it out.
_NO_WORD = "!!!MAXTERMID"

# The most bytes of a word: as many as its char ids hold.
_WORD_BYTES = MAX_CHARACTERS - 2

_BOUNDARIES = {BEGIN_SENTENCE: BEGIN_TOKEN.encode(), END_SENTENCE: END_TOKEN.encode()}


class Lexicon(torch.nn.Module):
    """
    Maps words to the rows of a table. The words are saved with the weights, as bytes. Only the
    first 48 bytes of a word count, as in char ids.
    """

    def __init__(self, num_words: int) -> None:
        super().__init__()
        self.register_buffer("words", torch.zeros(num_words, _WORD_BYTES, dtype=torch.uint8))
        # The row of each word; made at the first look-up.
        self._rows: dict[bytes, int] | None = None
        self.register_load_state_dict_post_hook(_forget_rows)

    def set_words(self, words: Sequence[str]) -> None:
        """
        Sets the words. Raises `ConfigurationError` if `<UNK>` is missing, or if there are too few
        or too many words.
        """
        if UNKNOWN_WORD not in words:
            raise ConfigurationError(
                f"the vocabulary has no {UNKNOWN_WORD}, the word for unknown words"
            )
        if len(words) != len(self.words):
            raise ConfigurationError(
                f"the vocabulary has {len(words)} words, but the options ask for {len(self.words)}"
            )
        keys = (_key(word.encode()[:_WORD_BYTES]).ljust(_WORD_BYTES, b"\0") for word in words)
        content = torch.frombuffer(bytearray(b"".join(keys)), dtype=torch.uint8)
        self.words.copy_(content.view_as(self.words))
        self._rows = None

    def get_words(self) -> list[str]:
        """Returns the words in the order of their rows, cut to 48 bytes."""
        return [word.decode() for word in _words(self.words)]

    def rows(self, words: Sequence[bytes]) -> torch.Tensor:
        """Returns the row of each word, or the row of `<UNK>`: shape (words,), on the CPU."""
        if self._rows is None:
            self._rows = {word: row for row, word in enumerate(_words(self.words))}
        rows = self._rows
        unknown = rows.get(UNKNOWN_WORD.encode(), 0)
        return torch.tensor([rows.get(word, unknown) for word in words], dtype=torch.long)


class WordTable(torch.nn.Module):
    """
    Gives each word of a vocabulary a trained vector as its x^LM. Any other word has the vector of
    `<UNK>`. The table takes the place of the character CNN, as in bilm-tf if the options lack
    `char_cnn`.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__()
        self.lexicon = Lexicon(options.num_words)
        self.embedding = torch.nn.Parameter(torch.empty(options.num_words, options.projection_dim))
        # As TensorFlow does by default.
        torch.nn.init.xavier_uniform_(self.embedding)

    def forward(self, char_ids: torch.Tensor) -> torch.Tensor:
        """Returns x^LM of shape (tokens, projection_dim) for char ids of shape (tokens, 50)."""
        rows = self.lexicon.rows(words_of(char_ids))
        return embedding(rows.to(self.embedding.device), self.embedding)


def words_of(char_ids: torch.Tensor) -> list[bytes]:
    """Returns the words of char ids of shape (tokens, 50). A boundary is `<S>` or `</S>`."""
    ids = char_ids.cpu().numpy()
    ends = (ids == END_WORD).argmax(axis=1)
    content = (ids - 1).astype("uint8")
    return [
        _BOUNDARIES.get(int(row[1])) or _key(of_row[1:end].tobytes())
        for row, of_row, end in zip(ids, content, ends)
    ]


def _key(word: bytes) -> bytes:
    """
    Returns the bytes of a word. If the cut to 48 bytes divided the last character, leaves it out.
    """
    return word if len(word) < _WORD_BYTES else word.decode("utf-8", "ignore").encode()


def _words(words: torch.Tensor) -> list[bytes]:
    return [row.tobytes().rstrip(b"\0") for row in words.cpu().numpy()]


def _forget_rows(lexicon: Lexicon, _: Any) -> None:
    lexicon._rows = None


def read_vocabulary(weights: str | os.PathLike, num_words: int) -> list[str]:
    """
    Reads the vocabulary of a biLM of words, as bilm-tf does: the file `vocab.txt` beside the
    weights, with a word on each line. Raises `ConfigurationError` if the file is missing, is not
    UTF-8 or has a wrong number of words.
    """
    beside = Path(weights).with_name(VOCABULARY_FILE)
    try:
        check_regular(beside)
        lines = beside.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"a biLM of words needs {VOCABULARY_FILE} beside {weights}: {error}"
        ) from error
    words = [word for line in lines if (word := line.strip()) != _NO_WORD]
    if len(words) != num_words:
        raise ConfigurationError(
            f"{beside} has {len(words)} words, but n_tokens_vocab of the options is {num_words}"
        )
    return words


def write_vocabulary(folder: str | os.PathLike, words: Iterable[str]) -> None:
    write_whole(Path(folder) / VOCABULARY_FILE, "".join(f"{word}\n" for word in words))
