from collections import Counter, defaultdict
from collections.abc import Iterable


class MostFrequent:
    """
    Predicts the most frequent tag of a word in the training data, or the most frequent of all tags
    if the word is not there. If two tags are equally frequent, the tag that came first is taken.

    # Parameters

    keys : `Iterable[str]`
        The words or lemmas of the training data.
    tags : `Iterable[str]`
        Their tags.
    """

    def __init__(self, keys: Iterable[str], tags: Iterable[str]) -> None:
        of_all: Counter[str] = Counter()
        of_key: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for key, tag in zip(keys, tags):
            of_all[tag] += 1
            of_key[key][tag] += 1
        self.of_all = of_all.most_common(1)[0][0]
        self._of_key = {key: counts.most_common(1)[0][0] for key, counts in of_key.items()}

    def __contains__(self, key: str) -> bool:
        return key in self._of_key

    def of(self, key: str) -> str:
        return self._of_key.get(key, self.of_all)
