from collections import Counter
from collections.abc import Sequence

from allennlp.data import Vocabulary
from allennlp.data.fields import IndexField, TextField

# AllenNLP adds no tokens for padding and unknown words to a namespace whose name ends in "labels".
_PREDICATES = "predicate_labels"
_OTHERS = "no_predicate_labels"

# How many last letters decide about a word that the training data lacks.
_ENDING = 3


class PredicateField(IndexField):
    """
    The index of a predicate in its sentence: a tensor of shape (1,).

    For `PredicateWords`, a vocabulary keeps two lists of words in lower case: those that are mostly
    predicates in the training data, and those that mostly are not.

    # Parameters

    others: The words of the sentence that are no predicates. Only one of the sentence's instances
        has them, so that each word counts once.
    """

    __slots__ = ["others"]

    def __init__(self, index: int, tokens: TextField, others: Sequence[str] = ()) -> None:
        super().__init__(index, tokens)
        self.others = others

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        # A vocabulary keeps the items whose count is at least 1.
        predicates, others = counter[_PREDICATES], counter[_OTHERS]
        predicate = self.sequence_field.tokens[self.sequence_index].text.lower()
        predicates[predicate] += 1
        others[predicate] -= 1
        for word in map(str.lower, self.others):
            predicates[word] -= 1
            others[word] += 1


class PredicateWords:
    """
    Decides which words of raw text count as predicates, whatever their neighbours are. A word in
    one of `PredicateField`'s two lists counts as the list says. Any other word counts as a
    predicate if most of the listed words with the same last three letters are predicates.
    """

    def __init__(self, vocab: Vocabulary) -> None:
        self._predicates = vocab.get_token_to_index_vocabulary(_PREDICATES)
        self._others = vocab.get_token_to_index_vocabulary(_OTHERS)
        counts = Counter(map(_ending, self._predicates))
        counts.subtract(map(_ending, self._others))
        self._endings = {ending for ending, count in counts.items() if ending and count > 0}

    def indices(self, words: Sequence[str]) -> list[int]:
        return [index for index, word in enumerate(words) if self._is_predicate(word.lower())]

    def _is_predicate(self, word: str) -> bool:
        if word in self._predicates or word in self._others:
            return word in self._predicates
        return _ending(word) in self._endings


def _ending(word: str) -> str:
    return word[-_ENDING:] if len(word) > _ENDING else ""
