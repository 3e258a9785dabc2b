from collections import defaultdict
from collections.abc import Iterable, Iterator

import torch
from torch.nn.functional import normalize

from elmo_tasks.commands.outputs import layer_name
from elmo_tasks.commands.probe.most_frequent import MostFrequent
from elmo_tasks.commands.probe.probe import Probe, Row, accuracy
from elmo_tasks.commands.probe.tagged_tokens import TaggedTokens


@Probe.register("nearest")
class NearestProbe(Probe):
    """
    The nearest sense of each word in each layer (Peters et al. 2018, section 5.3): a sense is the
    mean of its vectors in the training data, and the nearest of those of the same word is that of
    the largest cosine. A word that is not in the training data has the sense that is most frequent
    there.

    Registered as a `Probe` with name "nearest".
    """

    def rows(self, train: TaggedTokens, validation: TaggedTokens) -> Iterator[Row]:
        back_off = MostFrequent(train.keys, train.tags)
        for number in range(train.layers.size(1)):
            senses = _Senses(train, number)
            predicted = [back_off.of(key) for key in validation.keys]
            for key, places in _places(validation.keys).items():
                if key in back_off:
                    vectors = validation.layers[places, number].float()
                    for place, sense in zip(places, senses.nearest(key, vectors)):
                        predicted[place] = sense
            yield Row(layer_name(number), accuracy(predicted, validation.tags))


class _Senses:
    """The senses of every word in one layer."""

    def __init__(self, train: TaggedTokens, number: int) -> None:
        self._tags: dict[str, list[str]] = {}
        self._means: dict[str, torch.Tensor] = {}
        for key, places in _places(train.keys).items():
            of_tag = _places(train.tags[place] for place in places)
            vectors = train.layers[places, number].float()
            self._tags[key] = list(of_tag)
            self._means[key] = torch.stack([vectors[part].mean(0) for part in of_tag.values()])

    def nearest(self, key: str, vectors: torch.Tensor) -> list[str]:
        """To vectors of shape (tokens, dim)."""
        cosines = vectors @ normalize(self._means[key]).T
        return [self._tags[key][number] for number in cosines.argmax(dim=1).tolist()]


def _places(names: Iterable[str]) -> dict[str, list[int]]:
    """Where each of some names stands."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        places[name].append(place)
    return places
