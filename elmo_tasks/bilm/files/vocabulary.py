import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from elmo_tasks.bilm.files.known_bilms import is_zip, local_weights
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.text_files import read_lines

VOCABULARY_FILE = "vocab.txt"

# A line in some vocabularies that is no word. bilm-tf leaves it out.
_NO_WORD = "!!!MAXTERMID"

# The most characters of a vocabulary: a small packed file may hold far more.
_MAX_VOCABULARY = 10**8


def read_vocabulary(weight_file: str | os.PathLike, num_words: int) -> list[str]:
    """
    Reads the vocabulary of a biLM of words, as bilm-tf does: the file `vocab.txt` beside the
    weights, with a word on each line. Raises `ConfigurationError` if there is none, or it has a
    wrong number of words or is not UTF-8.
    """
    file = _vocabulary_file(str(weight_file))
    try:
        lines = islice(vocabulary_lines(file), num_words + 2)
        words = [word for line in lines if (word := line.strip()) != _NO_WORD]
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"the vocabulary cannot be read: {error}") from error
    if len(words) != num_words:
        found = f"{len(words)}" if len(words) < num_words else f"more than {num_words}"
        raise ConfigurationError(
            f"{file} has {found} words, but n_tokens_vocab of the options is {num_words}"
        )
    return words


def vocabulary_lines(file: str | os.PathLike) -> Iterator[str]:
    """Yields lines as `read_lines` does. Raises `ValueError` after 10^8 characters."""
    num_characters = 0
    for line in read_lines(file):
        num_characters += len(line)
        if num_characters > _MAX_VOCABULARY:
            raise ValueError(f"{file} has more than {_MAX_VOCABULARY:,} characters")
        yield line


def write_vocabulary(folder: str | os.PathLike, words: Iterable[str]) -> None:
    write_whole(Path(folder) / VOCABULARY_FILE, "".join(f"{word}\n" for word in words))


def _vocabulary_file(weight_file: str) -> str:
    """Returns the local path of the vocabulary. It is fetched if the weights have an address."""
    if "://" in weight_file and not is_zip(weight_file):
        name = weight_file.rpartition("/")[0] + f"/{VOCABULARY_FILE}"
    else:
        name = str(Path(local_weights(weight_file)).with_name(VOCABULARY_FILE))
    try:
        return local_path(name)
    except OSError as error:
        raise ConfigurationError(
            f"a biLM of words needs {VOCABULARY_FILE} beside {weight_file}: {error}"
        ) from error
