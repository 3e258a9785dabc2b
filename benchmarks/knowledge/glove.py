"""GloVe's vectors, and how much of them a biLM's token layer has."""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import torch
from allennlp.common.util import lazy_groups_of
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.knowledge.layers import Rows
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.elmo import ElmoEncoder

# The ends of the ranges of ranks in frequency.
RANKS = (2_000, 20_000)
_WORDS_PER_SENTENCE = 50
_FOLDS = 10

_FILE = "vectors/glove.6B.100d.120k.txt.gz"


class Glove(NamedTuple):
    """
    # Parameters

    rows: The row of each word, the most frequent first. All words are in lower case.
    vectors: Shape (words, 100).
    """

    rows: dict[str, int]
    vectors: numpy.ndarray

    def mean(self, words: list[str]) -> numpy.ndarray:
        """Returns the mean vector of the known words, or zeros if none is known."""
        indices = [self.rows[word.lower()] for word in words if word.lower() in self.rows]
        return self.vectors[indices].mean(0) if indices else numpy.zeros_like(self.vectors[0])


@lru_cache(maxsize=1)
def read_glove(data: Path) -> Glove:
    words, vectors = [], []
    for line in read_lines(data / _FILE):
        word, numbers = line.split(" ", 1)
        words.append(word)
        vectors.append(numpy.fromstring(numbers, numpy.float32, sep=" "))
    return Glove({word: row for row, word in enumerate(words)}, numpy.stack(vectors))


def measure(encoder: ElmoEncoder, data: Path) -> Rows:
    """
    Returns the share of the variance of GloVe's vectors that a linear map of x^LM explains, for
    words that the map was not fitted to. There is one map for each range of ranks.
    """
    glove = read_glove(data)
    words = list(glove.rows)[: RANKS[-1]]
    # x^LM does not depend on the context, so that any words make a sentence.
    layers = torch.cat(
        [layers[0] for layers in encoder.layers(lazy_groups_of(words, _WORDS_PER_SENTENCE))]
    )
    tokens = layers.chunk(2, dim=1)[0].numpy()
    rows: Rows = {}
    for start, end in zip([0, *RANKS], RANKS):
        targets, inputs = glove.vectors[start:end], tokens[start:end]
        mapped = make_pipeline(StandardScaler(), Ridge())
        explained = cross_val_score(mapped, inputs, targets, cv=_FOLDS, scoring=_explained_variance)
        rows[f"GloVe explained, ranks {start + 1:,} to {end:,}"] = [100 * explained.mean()]
    return rows


def _explained_variance(mapped: Any, inputs: numpy.ndarray, targets: numpy.ndarray) -> float:
    return r2_score(targets, mapped.predict(inputs), multioutput="variance_weighted")


def baselines(data: Path) -> Rows:
    return {}
