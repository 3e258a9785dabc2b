"""Counts lines of a text that are odd for a biLM."""

import logging
from collections.abc import Iterable, Iterator

from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN

logger = logging.getLogger(__name__)

# This many sentences of one word show that a file has a word on each line.
_LIST = 10


def warn_of_odd_lines(
    lines: Iterable[str], path: str, warned_paths: set[str], are_tokens: bool = True
) -> Iterator[str]:
    """
    Yields the lines. At the end, logs what `OddLines` has counted, once for each path:
    `warned_paths` has the paths logged before.
    """
    odd = OddLines(are_tokens)
    try:
        for number, line in enumerate(lines, start=1):
            odd.look_at(number, line)
            yield line
    finally:
        messages = [] if path in warned_paths else list(odd.messages())
        if messages:
            warned_paths.add(path)
        for message in messages:
            logger.warning("%s: %s", path, message)


class OddLines:
    """
    Counts the words `<S>` and `</S>`, the sentence boundaries that a biLM adds itself, and the
    lines with a tab, as in a table. Notes whether each line has one word.

    # Parameters

    are_tokens: Whether the lines consist of tokens. A line of raw text may have one word.
    """

    def __init__(self, are_tokens: bool) -> None:
        self._num_boundaries = self._first_boundary = 0
        self._num_with_tabs = self._first_tab = 0
        self._num_words, self._is_list = 0, are_tokens

    def look_at(self, number: int, line: str) -> None:
        """Counts a line. `number` is its number, from 1."""
        if self._is_list:
            num_words = len(line.split(None, 1))
            self._num_words += num_words
            self._is_list = num_words < 2
        if "\t" in line:
            self._num_with_tabs += 1
            self._first_tab = self._first_tab or number
        # Most lines need not be cut into words for this.
        if END_TOKEN[-2:] in line:
            words = line.split()
            num_boundaries = words.count(BEGIN_TOKEN) + words.count(END_TOKEN)
            self._num_boundaries += num_boundaries
            if num_boundaries and not self._first_boundary:
                self._first_boundary = number

    def messages(self) -> Iterator[str]:
        """Yields a message for each kind of oddity."""
        if self._is_list and self._num_words >= _LIST:
            yield (
                f"each of the {self._num_words} sentences has one word: write a whole sentence on "
                "a line"
            )
        if self._num_with_tabs:
            yield (
                f"{self._num_with_tabs} sentences have tabs, the first is sentence "
                f"{self._first_tab}: an id or a label before a tab is read as a word, so leave "
                "such columns out"
            )
        if self._num_boundaries:
            yield (
                f"{self._num_boundaries} words are {BEGIN_TOKEN} or {END_TOKEN}, the first in "
                f"sentence {self._first_boundary}: the biLM adds these at the beginning and end of "
                "each sentence, so remove them from the text"
            )
