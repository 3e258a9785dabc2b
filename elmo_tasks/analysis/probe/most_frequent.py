from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping


class MostFrequent:
    """
    Predicts the most frequent tag of a word in the training data. For a word that the training data
    lacks, predicts the tag of the back-off. If the back-off lacks the word too, predicts the most
    frequent of all tags. Of two equally frequent tags, takes the one that occurs first.

    # Parameters

    keys: The words or lemmas of the training data.
    tags: The gold tags of each word or lemma. A token with several tags counts once for each tag.
    back_off: A tag for each word that the training data may lack.
    """

    def __init__(
        self,
        keys: Iterable[str],
        tags: Iterable[tuple[str, ...]],
        back_off: Mapping[str, str] | None = None,
    ) -> None:
        of_all: Counter[str] = Counter()
        of_key: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for key, gold in zip(keys, tags):
            of_all.update(gold)
            of_key[key].update(gold)
        self.of_all = of_all.most_common(1)[0][0]
        self.back_off = back_off or {}
        self._of_key = {key: counts.most_common(1)[0][0] for key, counts in of_key.items()}

    def __contains__(self, key: str) -> bool:
        """Returns whether the training data has the word."""
        return key in self._of_key

    def of(self, key: str) -> str:
        return self._of_key.get(key) or self.back_off.get(key, self.of_all)
