import os
import random
from collections import Counter
from typing import NamedTuple

from tqdm import tqdm

from elmo_tasks.common.text_files import corpus_files, read_lines, split_lines

# Longer lines are cut into pieces of this many tokens.
_MAX_TOKENS = 256


class Occurrence(NamedTuple):
    """The word at a position of a tokenized sentence."""

    words: list[str]
    position: int

    def line(self, width: int = 40) -> str:
        """
        Returns the word with its context as one line: `width` characters before it and after it.
        """
        before, after = self.words[: self.position], self.words[self.position + 1 :]
        left, right = " ".join(before)[-width:], " ".join(after)[:width]
        return f"{left:>{width}}  {self.words[self.position]}  {right}"


class Corpus(NamedTuple):
    """
    The occurrences of a word in the order of the text: all `num_occurrences`, or a random
    selection. `counts` has the frequency of each word of the text.
    """

    occurrences: list[Occurrence]
    num_occurrences: int
    num_sentences: int
    counts: Counter[str]


def search(pattern: str | os.PathLike, word: str, max_occurrences: int, seed: int = 0) -> Corpus:
    """
    Searches a tokenized text for a word. The text is read once and is not kept in memory. A line of
    more than 256 tokens is cut into several sentences. If there are more than `max_occurrences`,
    this many are drawn, all equally probable.
    """
    drawn = random.Random(seed)
    kept: list[tuple[int, Occurrence]] = []
    counts: Counter[str] = Counter()
    num_occurrences = num_sentences = 0
    lines = (line for path in corpus_files(pattern) for line in read_lines(path))
    sentences = split_lines(lines, _MAX_TOKENS, str(pattern))
    for words in tqdm(sentences, desc=f"reading {pattern}", unit=" sentences"):
        num_sentences += 1
        counts.update(words)
        for position, other in enumerate(words):
            if other != word:
                continue
            # Reservoir sampling: algorithm R of Vitter 1985.
            slot = drawn.randrange(num_occurrences + 1)
            found = num_occurrences, Occurrence(words, position)
            num_occurrences += 1
            if len(kept) < max_occurrences:
                kept.append(found)
            elif slot < max_occurrences:
                kept[slot] = found
    occurrences = [occurrence for _, occurrence in sorted(kept, key=lambda pair: pair[0])]
    return Corpus(occurrences, num_occurrences, num_sentences, counts)
