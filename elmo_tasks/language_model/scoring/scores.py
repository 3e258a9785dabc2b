import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy


class Score(NamedTuple):
    """
    How likely the tokens of a sentence are: log probabilities in nats (1 nat is `log2(e)` bits).

    # Parameters

    known: For each token, whether it is a word of the softmax. All other tokens share one class.
    forward, backward: Shapes (tokens,): the log probability of each token, given the tokens before
        it (`forward`) or after it (`backward`).
    end, begin: The log probability of the sentence's end in the forward direction, and of its
        beginning in the backward direction, given all tokens; 0 without tokens.
    """

    tokens: list[str]
    known: list[bool]
    forward: numpy.ndarray
    backward: numpy.ndarray
    end: float
    begin: float

    @property
    def forward_sum(self) -> float:
        """The log probability of the sentence and its end."""
        return float(self.forward.sum(dtype=numpy.float64)) + self.end

    @property
    def backward_sum(self) -> float:
        """The log probability of the sentence and its beginning."""
        return float(self.backward.sum(dtype=numpy.float64)) + self.begin

    def by_word(self, words: Sequence[str], num_pieces: Sequence[int]) -> "Score":
        """
        Returns the score of whole words, given the number of tokens of each word. The log
        probability of a word is the sum over its tokens. A word is known if all its tokens are.
        """
        starts = numpy.cumsum([0, *num_pieces])[:-1]
        if not len(starts):
            return self
        return self._replace(
            tokens=list(words),
            known=numpy.logical_and.reduceat(self.known, starts).tolist(),
            forward=numpy.add.reduceat(self.forward, starts),
            backward=numpy.add.reduceat(self.backward, starts),
        )


@dataclass
class Perplexity:
    """
    Adds up the scores of a text, and computes its perplexity in each direction. The ends of
    sentences count as words. Unknown tokens are those that are not words of the softmax.
    """

    num_sentences: int = 0
    num_tokens: int = 0
    num_unknown: int = 0
    forward_sum: float = 0.0
    backward_sum: float = 0.0

    def add(self, score: Score) -> None:
        """Counts a sentence, if it has tokens."""
        self.num_sentences += bool(score.tokens)
        self.num_tokens += len(score.tokens)
        self.num_unknown += len(score.known) - sum(score.known)
        self.forward_sum += score.forward_sum
        self.backward_sum += score.backward_sum

    @property
    def forward(self) -> float:
        return self._perplexity(self.forward_sum)

    @property
    def backward(self) -> float:
        return self._perplexity(self.backward_sum)

    @property
    def mean(self) -> float:
        """The arithmetic mean of the two directions, as in the paper."""
        return (self.forward + self.backward) / 2

    def _perplexity(self, log_prob: float) -> float:
        return math.exp(-log_prob / max(1, self.num_tokens + self.num_sentences))

    def __str__(self) -> str:
        return (
            f"{self.num_sentences:,} sentences, {self.num_tokens:,} tokens, {self.num_unknown:,} "
            f"unknown; perplexity {self.mean:.4g} (forward {self.forward:.4g}, backward "
            f"{self.backward:.4g})"
        )
