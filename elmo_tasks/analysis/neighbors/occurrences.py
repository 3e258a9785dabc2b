import os
import random
from collections import Counter
from typing import Any, NamedTuple

from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.sentences import SentencesReader

# Letters on either side of a word where it is shown.
_WINDOW = 40


class Occurrence(NamedTuple):
    """
    # Parameters

    words : `list[str]`
        The sentence.
    position : `int`
        The index of the word in the sentence.
    """

    words: list[str]
    position: int

    def window(self, width: int = _WINDOW) -> tuple[str, str, str]:
        """Whole words before it, the word itself, and after it: `width` letters at most each."""
        before, after = self.words[: self.position], self.words[self.position + 1 :]
        left = _as_fit(before[::-1], width)[::-1]
        return " ".join(left), self.words[self.position], " ".join(_as_fit(after, width))

    def line(self) -> str:
        """The window, aligned at the word."""
        before, word, after = self.window()
        return f"{before:>{_WINDOW}}  {word}  {after}"

    def as_dict(self) -> dict[str, Any]:
        return {"words": self.words, "place": self.position}


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
    sentences = SentencesReader().sentences(str(pattern))
    for words in tqdm(sentences, desc=f"reading {pattern}", unit=" sentences"):
        num_sentences += 1
        counts.update(words)
        for position, other in enumerate(words):
            if not _is_same(other, word, ignore_case):
                continue
            # Algorithm R of Vitter 1985.
            slot = drawn.randrange(num_occurrences + 1)
            found = num_occurrences, Occurrence(words, position)
            num_occurrences += 1
            if len(kept) < max_occurrences:
                kept.append(found)
            elif slot < max_occurrences:
                kept[slot] = found
    occurrences = [occurrence for _, occurrence in sorted(kept, key=lambda pair: pair[0])]
    return Corpus(occurrences, num_occurrences, num_sentences, counts)


def find(word: str, sentence: str, ignore_case: bool = False) -> Occurrence:
    """
    Returns the first occurrence of a word in a tokenized sentence. Raises `ConfigurationError` if
    there is none.
    """
    words = sentence.split()
    for position, other in enumerate(words):
        if _is_same(other, word, ignore_case):
            return Occurrence(words, position)
    raise ConfigurationError(
        f"--sentence must have {word!r} in it as a token, blanks around it, but is {sentence!r}"
    )


def _is_same(word: str, other: str, ignore_case: bool) -> bool:
    return word == other or ignore_case and word.casefold() == other.casefold()


def _as_fit(words: list[str], width: int) -> list[str]:
    """Returns the first words that fit into a width, with a blank between them."""
    used = -1
    for num_fitting, word in enumerate(words):
        used += len(word) + 1
        if used > width:
            return words[:num_fitting]
    return words
