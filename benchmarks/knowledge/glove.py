"""GloVe's vectors, and how much of them a biLM's token layer has."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy

from elmo_tasks.common.text_files import read_lines

_FILE = "vectors/glove.6B.100d.120k.txt.gz"


class Glove(NamedTuple):
    """
    # Parameters

    rows : `dict[str, int]`
        The row of each word, the most frequent first. All words are in lower case.
    vectors : `numpy.ndarray`
        Shape (words, 100).
    """

    rows: dict[str, int]
    vectors: numpy.ndarray

    def mean(self, words: list[str]) -> numpy.ndarray:
        """Returns the mean vector of the known words, or zeros if none is known."""
        known = [self.rows[word.lower()] for word in words if word.lower() in self.rows]
        return self.vectors[known].mean(0) if known else numpy.zeros_like(self.vectors[0])


@lru_cache(maxsize=1)
def read_glove(data: Path) -> Glove:
    words, vectors = [], []
    for line in read_lines(data / _FILE):
        word, numbers = line.split(" ", 1)
        words.append(word)
        vectors.append(numpy.fromstring(numbers, numpy.float32, sep=" "))
    return Glove({word: row for row, word in enumerate(words)}, numpy.stack(vectors))
