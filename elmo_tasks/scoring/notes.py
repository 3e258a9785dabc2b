from collections.abc import Iterator

from elmo_tasks.bilm.characters import MAX_CHARACTERS
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.embed.corpus import Corpus

# The biLM reads at most this many bytes of a token. Two more characters mark the token's ends.
_BYTES = MAX_CHARACTERS - 2


class Notes:
    """
    Reads a text, and counts empty lines and long tokens, which a user may not expect.

    # Parameters

    name: The name of the text in messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # For empty lines and for long tokens: how many there are, and the line of the first.
        self._empty = self._long = (0, 0)

    def tokens(self, corpus: Corpus) -> Iterator[list[str]]:
        """
        Yields the tokens of each line.

        # Raises

        `ValueError`: A line cannot be read; the message has the file and the line.
        `ConfigurationError`: The text has no line.
        """
        is_empty = True
        for line in corpus:
            is_empty = False
            if line.fault is not None:
                raise ValueError(f"{line.file}:{line.number}: {line.fault}")
            words = line.text.split()
            if not words:
                self._empty = _one_more(self._empty, line.number)
            if len(line.text) > _BYTES:
                for word in words:
                    if len(word.encode()) > _BYTES:
                        self._long = _one_more(self._long, line.number)
            yield words
        if is_empty:
            raise ConfigurationError(f"{self._name} has no line: there is nothing to score")

    def texts(self) -> Iterator[str]:
        """Yields a line about the empty lines, and one about the long tokens, if there are any."""
        for (number, first), what in (
            (self._empty, "lines without tokens, which have no score"),
            (self._long, f"tokens longer than {_BYTES} bytes, of which the biLM reads no more"),
        ):
            if number:
                yield f"{self._name}: {number:,} {what}; the first is in line {first}"


def _one_more(noted: tuple[int, int], line: int) -> tuple[int, int]:
    number, first = noted
    return number + 1, first or line
