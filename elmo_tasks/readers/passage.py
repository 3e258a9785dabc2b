from bisect import bisect_left, bisect_right
from typing import NamedTuple

from allennlp.data import Token


class Passage(NamedTuple):
    """
    The raw text of a passage and where its tokens lie in it: from character offsets to tokens and
    back. Characters are those of a Python string, and ends are exclusive; tokens are inclusive, as
    the labels of a span.

    # Parameters

    text : `str`
    starts, ends : `list[int]`
        Of each token.
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str, tokens: list[Token]) -> "Passage":
        return cls(text, [token.idx for token in tokens], [token.idx_end for token in tokens])

    def tokens_of(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last token that overlap `text[start:end]`; `None` where none does."""
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end) - 1
        return (first, last) if first <= last else None

    def characters_of(self, first: int, last: int) -> tuple[int, int]:
        """Start and end of the characters from one token to another."""
        return self.starts[first], self.ends[last]

    def text_of(self, first: int, last: int) -> str:
        """The slice of the raw text from one token to another."""
        start, end = self.characters_of(first, last)
        return self.text[start:end]
