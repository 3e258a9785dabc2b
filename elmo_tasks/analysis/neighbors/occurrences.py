import os
import random
from collections import Counter
from typing import NamedTuple

from allennlp.common import Tqdm

from elmo_tasks.readers.sentences import SentencesReader

# Letters on either side of a word where it is shown.
_WINDOW = 40


class Occurrence(NamedTuple):
    """
    # Parameters

    words : `list[str]`
        The sentence.
    place : `int`
        Of the word in it.
    """

    words: list[str]
    place: int

    def window(self, width: int = _WINDOW) -> tuple[str, str, str]:
        """Whole words before it, the word itself, and after it: `width` letters at most each."""
        before, after = self.words[: self.place], self.words[self.place + 1 :]
        left = _as_fit(before[::-1], width)[::-1]
        return " ".join(left), self.words[self.place], " ".join(_as_fit(after, width))

    def line(self) -> str:
        """The window, aligned at the word."""
        before, word, after = self.window()
        return f"{before:>{_WINDOW}}  {word}  {after}"


class Corpus(NamedTuple):
    """
    What a text has of a word.

    # Parameters

    occurrences : `list[Occurrence]`
        In the order of the text; of too many, a random part.
    num_occurrences, num_sentences : `int`
        Of all.
    counts : `Counter[str]`
        How often each word of the text is in it.
    """

    occurrences: list[Occurrence]
    num_occurrences: int
    num_sentences: int
    counts: Counter[str]


def search(
    pattern: str | os.PathLike,
    word: str,
    max_occurrences: int,
    ignore_case: bool = False,
    seed: int = 0,
) -> Corpus:
    """
    Reads a tokenized text once, in memory that its length does not bound.

    # Parameters

    pattern : `str | os.PathLike`
        One sentence a line, in plain files, `.gz` or `.xz`; a glob pattern is several. A line of
        more than 256 tokens is read in pieces.
    ignore_case : `bool`, optional (default = `False`)
        Whether `Bank` is an occurrence of `bank`.
    seed : `int`, optional (default = `0`)
        Of the part, where there are more than `max_occurrences`: each is as likely in it.
    """
    drawn = random.Random(seed)
    kept: list[tuple[int, Occurrence]] = []
    counts: Counter[str] = Counter()
    num_occurrences = num_sentences = 0
    wanted = word.casefold() if ignore_case else word
    sentences = SentencesReader().sentences(str(pattern))
    for words in Tqdm.tqdm(sentences, desc=f"reading {pattern}", unit=" sentences"):
        num_sentences += 1
        counts.update(words)
        for place, other in enumerate(words):
            if (other.casefold() if ignore_case else other) != wanted:
                continue
            # Algorithm R of Vitter 1985.
            slot = drawn.randrange(num_occurrences + 1)
            found = num_occurrences, Occurrence(words, place)
            num_occurrences += 1
            if len(kept) < max_occurrences:
                kept.append(found)
            elif slot < max_occurrences:
                kept[slot] = found
    occurrences = [occurrence for _, occurrence in sorted(kept, key=lambda pair: pair[0])]
    return Corpus(occurrences, num_occurrences, num_sentences, counts)


def _as_fit(words: list[str], width: int) -> list[str]:
    """The first of some words, as many as go into a width with a blank between each."""
    used = -1
    for number, word in enumerate(words):
        used += len(word) + 1
        if used > width:
            return words[:number]
    return words
