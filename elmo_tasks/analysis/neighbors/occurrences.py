"""
Finds the occurrences of a word in a text, and ranks and clusters their vectors, scaled to length 1.
"""

import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy
import torch
from torch.nn.functional import normalize
from tqdm import tqdm

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.odd_lines import warn_of_odd_lines
from elmo_tasks.common.records import files_of_lines
from elmo_tasks.common.text_files import read_lines, split_lines
from elmo_tasks.common.vector_files import read_vectors

# Cuts a line of raw text into sentences, each as its tokens with a blank between them.
Split = Callable[[str], Iterable[str]]

# Longer lines are cut into pieces of this many tokens.
_MAX_TOKENS = 256

# The indices of occurrences with their cosines to one vector, the largest cosine first.
Ranking = list[tuple[int, float]]


class Occurrence(NamedTuple):
    """The word at a position of a tokenized sentence."""

    words: list[str]
    position: int

    def line(self, width: int = 40) -> str:
        """Returns the word with its context on one line, with `width` characters on either side."""
        before, after = self.words[: self.position], self.words[self.position + 1 :]
        text_before, text_after = " ".join(before)[-width:], " ".join(after)[:width]
        return f"{text_before:>{width}}  {self.words[self.position]}  {text_after}"


class Occurrences(NamedTuple):
    """
    The occurrences of a word in the order of the text: all `num_occurrences`, or a random
    selection. `counts` has the frequency of each word of the text. `num_others` is the number of
    sentences that have the word in another form, with punctuation or in another case. `forms` has
    this number for each form.
    """

    occurrences: list[Occurrence]
    num_occurrences: int
    num_sentences: int
    counts: Counter[str]
    num_others: int = 0
    forms: Counter[str] = Counter()


def search(
    pattern: str | os.PathLike,
    word: str,
    max_occurrences: int,
    seed: int = 0,
    split: Split | None = None,
) -> Occurrences:
    """
    Searches a text for a word. The text is read once and is not kept in memory. `split` cuts a line
    of raw text into tokenized sentences; by default, each line is one tokenized sentence. A
    sentence of more than 256 tokens is cut into several. If the word occurs more than
    `max_occurrences` times, `max_occurrences` occurrences are drawn at random, all equally
    probable.
    """
    generator = random.Random(seed)
    sample: list[tuple[int, Occurrence]] = []
    counts: Counter[str] = Counter()
    forms: Counter[str] = Counter()
    num_occurrences = num_sentences = num_others = 0
    bare = _bare(word)
    lines: Iterator[str] = chain.from_iterable(
        warn_of_odd_lines(read_lines(path), path, set()) for path in files_of_lines(pattern)
    )
    if split is not None:
        lines = chain.from_iterable(map(split, filter(str.strip, lines)))
    sentences = split_lines(lines, _MAX_TOKENS, str(pattern))
    for words in tqdm(sentences, desc=f"reading {pattern}", unit=" sentences"):
        num_sentences += 1
        counts.update(words)
        if bare and bare in " ".join(words).casefold():
            found_forms = {token for token in words if token != word and _bare(token) == bare}
            forms.update(found_forms)
            num_others += bool(found_forms)
        for position, token in enumerate(words):
            if token != word:
                continue
            # Reservoir sampling: algorithm R of Vitter 1985.
            slot = generator.randrange(num_occurrences + 1)
            occurrence_at = num_occurrences, Occurrence(words, position)
            num_occurrences += 1
            if len(sample) < max_occurrences:
                sample.append(occurrence_at)
            elif slot < max_occurrences:
                sample[slot] = occurrence_at
    occurrences = [occurrence for _, occurrence in sorted(sample, key=lambda pair: pair[0])]
    return Occurrences(occurrences, num_occurrences, num_sentences, counts, num_others, forms)


def _bare(word: str) -> str:
    """Returns a word in lower case, without the punctuation around it."""
    return re.sub(r"^[\W_]+|[\W_]+$", "", word).casefold()


def rank(vectors: torch.Tensor, members: Sequence[int], centre: torch.Tensor) -> Ranking:
    """Sorts the vectors with the given indices by their cosine to `centre`."""
    cosines, order = (vectors[members] @ centre).sort(descending=True, stable=True)
    return [(members[row], cosine) for row, cosine in zip(order.tolist(), cosines.tolist())]


def cluster(vectors: torch.Tensor, num_clusters: int) -> list[Ranking]:
    """
    Clusters vectors with k-means, and returns the clusters, the largest first. There are at most as
    many clusters as distinct vectors.
    """
    # Only this function needs scikit-learn, whose import takes a second.
    from sklearn.cluster import KMeans

    num_clusters = min(num_clusters, len(torch.unique(vectors, dim=0)))
    labels = KMeans(num_clusters, n_init=10, random_state=0).fit_predict(vectors.double().numpy())
    groups = []
    for label in range(num_clusters):
        members = (labels == label).nonzero()[0].tolist()
        groups.append(rank(vectors, members, normalize(vectors[members].mean(0), dim=0)))
    return sorted(groups, key=len, reverse=True)


def principal_plane(vectors: torch.Tensor) -> torch.Tensor:
    """Projects vectors to their first two principal components: shape (occurrences, 2)."""
    centered = (vectors - vectors.mean(0)).double()
    _, _, directions = torch.linalg.svd(centered, full_matrices=False)
    points = torch.zeros(len(vectors), 2, dtype=torch.double)
    projected = centered @ directions[:2].T
    points[:, : projected.size(1)] = projected
    return points


def similar_words(
    bilm: BiLm, word: str, words: Sequence[str], num_words: int
) -> list[tuple[str, float]]:
    """
    Returns the words of `words` that are nearest to `word` in layer 0, x^LM, with their cosines. In
    this layer a word has the same vector in all contexts.
    """
    other_words = [candidate for candidate in words if candidate != word]
    char_ids = batch_char_ids([[word, *other_words]], bilm.options.max_characters)[0]
    with torch.no_grad():
        x = normalize(bilm.token_layer(char_ids.to(bilm.like.device)).cpu())
    return _nearest(other_words, x[1:], x[0], num_words)


def similar_words_of_file(
    path: str, word: str, max_words: int, num_words: int
) -> list[tuple[str, float]]:
    """
    Returns the words that are nearest to `word` among the first `max_words` words of a file of word
    vectors, with their cosines. A word that the file lacks is looked up in lower case.

    # Raises

    `ConfigurationError`: The file has no vector of the word.
    """
    vector_of = read_vectors(path, max_words=max_words)
    form = word if word in vector_of else word.lower()
    if form not in vector_of:
        raise ConfigurationError(
            f"{path} has no vector of {word!r} in its first {max_words:,} words"
        )
    vectors = dict(
        zip(vector_of, normalize(torch.from_numpy(numpy.stack(list(vector_of.values())))))
    )
    centre = vectors.pop(form)
    return _nearest(list(vectors), torch.stack(list(vectors.values())), centre, num_words)


def _nearest(
    words: Sequence[str], vectors: torch.Tensor, centre: torch.Tensor, num_words: int
) -> list[tuple[str, float]]:
    cosines, rows = (vectors @ centre).topk(min(num_words, len(words)))
    return [(words[row], cosine) for row, cosine in zip(rows.tolist(), cosines.tolist())]
