from bisect import bisect_left, bisect_right
from typing import NamedTuple

from allennlp.data import Token


class Passage(NamedTuple):
    """
    A passage's raw text with the positions of its tokens. It converts between character offsets and
    tokens. Offsets count the characters of a Python string, with exclusive ends. A span of tokens
    includes its last token, as in the labels of a question.

    # Parameters

    text: The raw text.
    starts, ends: The character offsets of each token.
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str, tokens: list[Token]) -> "Passage":
        return cls(text, [token.idx for token in tokens], [token.idx_end for token in tokens])

    def tokens_of(self, start: int, end: int) -> tuple[int, int] | None:
        """
        Returns the indices of the first and the last token that overlap `text[start:end]`, or
        `None` if no token does.
        """
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end) - 1
        return (first, last) if first <= last else None

    def characters_of(self, first: int, last: int) -> tuple[int, int]:
        """Returns the character offsets at which token `first` starts and token `last` ends."""
        return self.starts[first], self.ends[last]

    def text_of(self, first: int, last: int) -> str:
        """Returns the raw text from token `first` to token `last`."""
        start, end = self.characters_of(first, last)
        return self.text[start:end]
