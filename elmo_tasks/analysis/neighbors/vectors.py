"""What is computed from the vectors of occurrences. All vectors have length 1."""

from collections.abc import Sequence
from itertools import islice

import numpy
import torch
from torch.nn.functional import normalize

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text_files import read_lines

# The indices of occurrences with their cosines to one vector, the largest cosine first.
Group = list[tuple[int, float]]


def rank(vectors: torch.Tensor, members: Sequence[int], centre: torch.Tensor) -> Group:
    """Sorts the vectors with the given indices by their cosine to `centre`."""
    cosines, order = (vectors[members] @ centre).sort(descending=True, stable=True)
    return [(members[row], cosine) for row, cosine in zip(order.tolist(), cosines.tolist())]


def cluster(vectors: torch.Tensor, num_clusters: int) -> list[Group]:
    """
    Clusters vectors with k-means, and returns the clusters, the largest first. There are fewer than
    `num_clusters` if there are fewer distinct vectors.
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
    """
    Projects vectors to the plane of their first two principal components: shape (occurrences, 2).
    """
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
    Returns those of `words` that are nearest to `word` in layer 0, x^LM, with their cosines. In
    this layer a word has the same vector in all contexts.
    """
    others = [other for other in words if other != word]
    char_ids = batch_char_ids([[word, *others]])[0]
    with torch.no_grad():
        x = normalize(bilm.token_layer(char_ids.to(bilm.like.device)).cpu())
    return _nearest(others, x[1:], x[0], num_words)


def similar_words_of_file(
    path: str, word: str, max_words: int, num_words: int
) -> list[tuple[str, float]]:
    """
    Returns those of the first `max_words` words of a file of word vectors that are nearest to
    `word`, with their cosines. A word that the file lacks is looked up in lower case. Lines of
    another width than the first are skipped, as is the header of word2vec.

    # Raises

    `ConfigurationError`: The file has no vector of the word.
    """
    found: dict[str, numpy.ndarray] = {}
    for line in islice(read_lines(path), max_words):
        other, _, numbers = line.rstrip().partition(" ")
        vector = numpy.array(numbers.split(), dtype=numpy.float32)
        if len(vector) > 1 and (not found or len(vector) == len(next(iter(found.values())))):
            found[other] = vector
    wanted = word if word in found else word.lower()
    if wanted not in found:
        raise ConfigurationError(
            f"{path} has no vector of {word!r} in its first {max_words:,} lines"
        )
    vectors = dict(zip(found, normalize(torch.from_numpy(numpy.stack(list(found.values()))))))
    centre = vectors.pop(wanted)
    return _nearest(list(vectors), torch.stack(list(vectors.values())), centre, num_words)


def _nearest(
    words: Sequence[str], vectors: torch.Tensor, centre: torch.Tensor, num_words: int
) -> list[tuple[str, float]]:
    cosines, rows = (vectors @ centre).topk(min(num_words, len(words)))
    return [(words[row], cosine) for row, cosine in zip(rows.tolist(), cosines.tolist())]
