import os
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from allennlp.data import Token

# An answer may be this many characters from its `answer_start`.
_NEAR = 32


class GoldAnswer(NamedTuple):
    """
    An answer, and the offset of its first character in the passage (`answer_start`). The offset is
    `None` if the file has none.
    """

    text: str
    start: int | None

    def is_in(self, passage: str) -> bool:
        """Returns whether the text is not empty and stands in the passage at `start`."""
        at_start = self.start is not None and self.start >= 0
        return self.text != "" and at_start and passage.startswith(self.text, self.start)

    def found_in(self, passage: str) -> "GoldAnswer | None":
        """
        Returns the answer with the right `start`, or `None` if the text is not found. Some files
        count characters beyond U+FFFF twice, as UTF-16 does. If the text is not at `start` by this
        count either, it must occur exactly once near `start`. Without a `start`, it must occur
        exactly once in the passage.
        """
        if self.start is None:
            start, end = 0, len(passage)
        elif self.start < 0:
            return None
        else:
            ahead = passage[: self.start].encode("utf-16-le", "surrogatepass")[: 2 * self.start]
            in_utf_16 = self._replace(start=len(ahead.decode("utf-16-le", "ignore")))
            if self.is_in(passage) or in_utf_16.is_in(passage):
                return self if self.is_in(passage) else in_utf_16
            start, end = max(0, self.start - _NEAR), self.start + _NEAR + len(self.text)
        offset = passage.find(self.text, start, end) if self.text else -1
        is_alone = offset >= 0 and passage.find(self.text, offset + 1, end) < 0
        return self._replace(start=offset) if is_alone else None


class Question(NamedTuple):
    """
    A question about a passage.

    # Parameters

    id: The id in the file. `read_squad` replaces missing and repeated ids by unique ones.
    question, passage: Texts, which are empty if the file has none.
    is_impossible: Whether the file says that the passage does not answer the question.
    article: The `title` of the passage's article. An article without a title has its path in the
        JSON; without articles in the file, this is empty.
    path: The question's path in the JSON, such as `data[0].paragraphs[2].qas[1]`. In JSON lines and
        Parquet, it begins with the number of the line.
    """

    id: str
    question: str
    passage: str
    answers: list[GoldAnswer]
    is_impossible: bool
    path: str
    article: str = ""

    def origin(self, file_path: str | os.PathLike) -> str:
        """Returns the beginning of a message about the question: the file and the path."""
        return f"{file_path}:{'' if self.path[:1].isdigit() else ' '}{self.path}"


class Passage(NamedTuple):
    """
    A passage's raw text, and the character offsets of its tokens. An offset counts the characters
    of a Python string; the end of a token is exclusive. A span of tokens includes its last token,
    as in the labels of a question.
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str, tokens: list[Token]) -> "Passage":
        return cls(text, [token.idx for token in tokens], [token.idx_end for token in tokens])

    @classmethod
    def joined(cls, passages: Sequence["Passage"]) -> "Passage":
        """Joins passages to one, with a blank line between them."""
        text, starts, ends = "", [], []
        for passage in passages:
            text += "\n\n" if text else ""
            starts += [len(text) + start for start in passage.starts]
            ends += [len(text) + end for end in passage.ends]
            text += passage.text
        return cls(text, starts, ends)

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
        start, end = self.characters_of(first, last)
        return self.text[start:end]
