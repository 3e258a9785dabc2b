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
    The nearest sense of each word in each layer (Peters et al. 2018, section 5.3): a sense is the
    mean of its vectors in the training data, and the nearest of those of the same word is that of
    the largest cosine, the more frequent where two are as near. A word that is not in the training
    data has the sense that is most frequent there.

    Registered as a `Probe` with name "nearest".
    """

    def rows(self, train: TaggedTokens, validation: TaggedTokens) -> Iterator[ProbeRow]:
        back_off = MostFrequent(train.keys, train.tags)
        for number in range(train.layers.size(1)):
            senses = _Senses(train, number)
            predicted = [back_off.of(key) for key in validation.keys]
            for key, places in _places(validation.keys).items():
                if key in back_off:
                    vectors = validation.layers[places, number].float()
                    for place, sense in zip(places, senses.nearest(key, vectors)):
                        predicted[place] = sense
            yield ProbeRow(layer_name(number), accuracy(predicted, validation.tags))


class _Senses:
    """The senses of every word in one layer."""

    def __init__(self, train: TaggedTokens, number: int) -> None:
        self._tags: dict[str, list[str]] = {}
        self._means: dict[str, torch.Tensor] = {}
        for key, places in _places(train.keys).items():
            of_tag = _places(train.tags[place] for place in places)
            vectors = train.layers[places, number].float()
            # The most frequent first.
            self._tags[key] = sorted(of_tag, key=lambda tag: -len(of_tag[tag]))
            means = [vectors[of_tag[tag]].mean(0) for tag in self._tags[key]]
            self._means[key] = normalize(torch.stack(means))

    def nearest(self, key: str, vectors: torch.Tensor) -> list[str]:
        """To vectors of shape (tokens, dim)."""
        cosines = normalize(vectors) @ self._means[key].T
        # Of those that are alike but for rounding, the first.
        nearest = cosines.mul(1e4).round().argmax(dim=1)
        return [self._tags[key][number] for number in nearest.tolist()]


def _places(names: Iterable[str]) -> dict[str, list[int]]:
    """Where each of some names stands."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        places[name].append(place)
    return places
