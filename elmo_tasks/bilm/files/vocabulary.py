import os
from collections.abc import Iterable
from pathlib import Path

from elmo_tasks.bilm.files.known_bilms import local_weights
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole

VOCABULARY_FILE = "vocab.txt"

# A line in some vocabularies that is no word. bilm-tf leaves it out.
_NO_WORD = "!!!MAXTERMID"


def read_vocabulary(weight_file: str | os.PathLike, num_words: int) -> list[str]:
    """
    Reads the vocabulary of a biLM of words, as bilm-tf does: the file `vocab.txt` beside the
    weights, with a word on each line. Raises `ConfigurationError` if there is none, or it has a
    wrong number of words or is not UTF-8.
    """
    file = Path(local_weights(weight_file)).with_name(VOCABULARY_FILE)
    try:
        lines = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"a biLM of words needs {VOCABULARY_FILE} beside {weight_file}: {error}"
        ) from error
    words = [word for line in lines if (word := line.strip()) != _NO_WORD]
    if len(words) != num_words:
        raise ConfigurationError(
            f"{file} has {len(words)} words, but n_tokens_vocab of the options is {num_words}"
        )
    return words


def write_vocabulary(folder: str | os.PathLike, words: Iterable[str]) -> None:
    write_whole(Path(folder) / VOCABULARY_FILE, "".join(f"{word}\n" for word in words))
