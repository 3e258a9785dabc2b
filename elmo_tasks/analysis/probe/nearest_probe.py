from collections import defaultdict
from collections.abc import Iterable, Iterator

import torch
from torch.nn.functional import normalize

from elmo_tasks.analysis.probe.most_frequent import MostFrequent
from elmo_tasks.analysis.probe.probe import Probe, ProbeRow, accuracy
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens
from elmo_tasks.analysis.tables import layer_name


@Probe.register("nearest")
class NearestProbe(Probe):
    """
    Predicts the nearest sense of each word in each layer (Peters et al. 2018, section 5.3). The
    tags of a word are its senses. The vector of a sense is the mean over its tokens in the training
    data. The nearest sense is the sense of the same word whose vector has the largest cosine. Of
    two equally near senses, the more frequent one is taken. A word that the training data lacks
    gets the tag of the back-off, such as its first sense in WordNet. If the back-off lacks the word
    too, it gets the most frequent of all tags.

    Registered as a `Probe` with name "nearest".
    """

    def rows(
        self, train: TaggedTokens, validation: TaggedTokens, most_frequent: MostFrequent
    ) -> Iterator[ProbeRow]:
        for layer in range(train.layers.size(1)):
            senses = _Senses(train, layer)
            predicted = [most_frequent.of(key) for key in validation.keys]
            for key, rows in _rows_of(validation.keys).items():
                if key in most_frequent:
                    vectors = validation.layers[rows, layer].float()
                    for row, sense in zip(rows, senses.nearest(key, vectors)):
                        predicted[row] = sense
            yield ProbeRow(layer_name(layer), accuracy(predicted, validation.tags))


class _Senses:
    """For one layer, the mean vector of each sense of each word."""

    def __init__(self, train: TaggedTokens, layer: int) -> None:
        self._tags: dict[str, list[str]] = {}
        self._means: dict[str, torch.Tensor] = {}
        for key, rows in _rows_of(train.keys).items():
            of_tag: defaultdict[str, list[int]] = defaultdict(list)
            for index, row in enumerate(rows):
                for tag in train.tags[row]:
                    of_tag[tag].append(index)
            vectors = train.layers[rows, layer].float()
            # Senses are sorted from the most to the least frequent.
            self._tags[key] = sorted(of_tag, key=lambda tag: -len(of_tag[tag]))
            means = [vectors[of_tag[tag]].mean(0) for tag in self._tags[key]]
            self._means[key] = normalize(torch.stack(means))

    def nearest(self, key: str, vectors: torch.Tensor) -> list[str]:
        """Maps vectors of shape (tokens, dim) to the tags of the nearest senses."""
        cosines = normalize(vectors) @ self._means[key].T
        # Cosines are rounded, so that several can be equal. The first of equal cosines is taken.
        nearest = cosines.mul(1e4).round().argmax(dim=1)
        return [self._tags[key][sense] for sense in nearest.tolist()]


def _rows_of(names: Iterable[str]) -> dict[str, list[int]]:
    """Returns a dictionary from each name to the indices at which it occurs."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(names):
        rows[name].append(row)
    return rows
