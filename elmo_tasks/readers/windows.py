"""Cuts a long passage into windows, and finds the windows that are most like a question."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from allennlp.data import Token
from spacy.tokens import Doc

from elmo_tasks.readers.passage import Passage
from elmo_tasks.readers.spacy_pipeline import blank_pipeline
from elmo_tasks.readers.tf_idf import TfIdf, nearest

# The most tokens of a window. A passage that has no more is read as a whole.
MAX_TOKENS = 400

# The most windows of a passage that are read for a question.
MAX_WINDOWS = 4

# The weight of the cosine of a window and the question by TF-IDF, added to logits; tuned on the
# articles of SQuAD's dev set (docs/squad.md). A model that never saw two windows beside each other
# is often sure of an answer in the wrong window.
_WEIGHT = 100

# The first token of a window or a paragraph, and the token after its last.
Range = tuple[int, int]


class Window(NamedTuple):
    """
    A window that is read for a question.

    # Parameters

    start, stop: The window's first token, and the token after its last.
    prior: A number that is added to the logits of the window's answers, before answers of several
        windows are compared.
    """

    start: int
    stop: int
    prior: float = 0.0


class Windows:
    """
    Cuts a passage into consecutive windows of at most `max_tokens` tokens. A window has as many
    whole paragraphs as fit. A longer paragraph is cut at the end of a sentence near its middle,
    again and again until no part is too long. A sentence that is too long is cut at the end of a
    line, or if it has only one line, between two tokens.

    # Parameters

    passage, tokens: A passage and its tokens.
    max_tokens: The most tokens of a window.
    ranges: The windows, if they are known.
    """

    def __init__(
        self,
        passage: Passage,
        tokens: Sequence[Token],
        max_tokens: int = MAX_TOKENS,
        ranges: Sequence[Range] = (),
    ) -> None:
        self._words = [token.ensure_text() for token in tokens]
        self._passage, self._max_tokens = passage, max_tokens
        num_tokens = len(tokens)
        self.ranges: list[Range] = [*ranges] or [(0, num_tokens)]
        if not ranges and num_tokens > max_tokens:
            self.ranges = list(self._pack(self.paragraphs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Windows) and repr(self) == repr(other)

    def __repr__(self) -> str:
        return f"Windows({self._words}, {self.ranges})"

    @cached_property
    def paragraphs(self) -> list[Range]:
        """
        The paragraphs of the passage. A paragraph ends at a blank line or, if the passage has no
        blank line, at each line end.
        """
        line_ends = self._line_ends
        least = min(2, max(line_ends, default=0))
        ends = [index for index, number in enumerate(line_ends, start=1) if 0 < least <= number]
        return list(pairwise([0, *ends, len(self._words)]))

    def near(self, question: Sequence[Token], most: int = MAX_WINDOWS) -> list[Window]:
        """
        Returns the windows that are most like a question by TF-IDF, in the order of the passage.
        """
        if len(self.ranges) == 1:
            return [Window(*self.ranges[0])]
        likeness = self._tf_idf.likeness(" ".join(map(str, question)))
        best = nearest(likeness)[:most]
        return [Window(*self.ranges[index], _WEIGHT * likeness[index]) for index in sorted(best)]

    def around(self, first: int, last: int) -> tuple[int, int]:
        """
        Returns the start and end offset of the paragraph with the tokens `first` to `last`. If the
        paragraph is longer than the window of these tokens, it is cut to the window.
        """
        window = self._window(first)
        starts = [start for start, _ in self.paragraphs]
        start = self.paragraphs[bisect_right(starts, first) - 1][0]
        stop = self.paragraphs[bisect_right(starts, last) - 1][1]
        return self._passage.characters_of(max(start, window[0]), min(stop, window[1]) - 1)

    def window_of(self, character: int) -> tuple[int, int]:
        """Returns the start and end offset of the window with the token at a given offset."""
        start, stop = self._window(bisect_right(self._passage.starts, character) - 1)
        return self._passage.characters_of(start, stop - 1)

    def _window(self, token: int) -> Range:
        return self.ranges[bisect_right(self.ranges, (token, len(self._words))) - 1]

    @cached_property
    def _tf_idf(self) -> TfIdf:
        return TfIdf(" ".join(self._words[slice(*window)]) for window in self.ranges)

    @cached_property
    def _line_ends(self) -> list[int]:
        """The number of line ends between each token and the next one."""
        text, starts, ends = self._passage
        gaps = map(slice, ends, starts[1:])
        return [len(f"{text[gap]}.".splitlines()) - 1 for gap in gaps]

    def _pack(self, paragraphs: list[Range]) -> Iterator[Range]:
        first, end = 0, 0
        for start, stop in paragraphs:
            for piece_start, piece_stop in self._pieces(start, stop):
                if piece_stop - first > self._max_tokens:
                    yield first, end
                    first = piece_start
                end = piece_stop
        yield first, end

    def _pieces(self, start: int, stop: int) -> Iterator[Range]:
        if stop - start <= self._max_tokens:
            yield start, stop
            return
        pipeline = blank_pipeline("en", with_sentences=True)
        doc = pipeline(Doc(pipeline.vocab, words=self._words[start:stop]))
        ends = [start + sentence.end for sentence in doc.sents]
        yield from self._halves(start, stop, ends)

    def _halves(self, start: int, stop: int, ends: list[int]) -> Iterator[Range]:
        if stop - start <= self._max_tokens:
            yield start, stop
            return
        inside = [end for end in ends if start < end < stop]
        lines = [index for index in range(start + 1, stop) if self._line_ends[index - 1]]
        middle = (start + stop) // 2
        middle_end = min(inside or lines or [middle], key=lambda end: abs(end - middle))
        yield from self._halves(start, middle_end, inside)
        yield from self._halves(middle_end, stop, inside)
