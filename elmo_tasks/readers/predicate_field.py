from collections.abc import Sequence

from allennlp.data import Vocabulary
from allennlp.data.fields import IndexField, TextField

# Namespaces whose names end so have no tokens for padding and unknown words.
_NAMESPACE = "predicate_labels"


class PredicateField(IndexField):
    """
    The index of a predicate in its sentence: a tensor of shape (1,).

    To find predicates in raw text, a vocabulary keeps words in lower case: those that are
    predicates more often than not in the training data (see `known_predicates`).

    # Parameters

    index : `int`
    tokens : `TextField`
        The sentence.
    others : `Sequence[str]`, optional
        The words of the sentence that are no predicates; given for only one of its instances.
    """

    __slots__ = ["others"]

    def __init__(self, index: int, tokens: TextField, others: Sequence[str] = ()) -> None:
        super().__init__(index, tokens)
        self.others = others

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        # A vocabulary keeps the items whose count is at least 1.
        counts = counter[_NAMESPACE]
        counts[_form(self.sequence_field.tokens[self.sequence_index].text)] += 1
        for word in self.others:
            counts[_form(word)] -= 1


def known_predicates(words: Sequence[str], vocab: Vocabulary) -> list[int]:
    """Returns the indices of the words that the vocabulary keeps as predicates."""
    known = vocab.get_token_to_index_vocabulary(_NAMESPACE)
    return [index for index, word in enumerate(words) if _form(word) in known]


def _form(word: str) -> str:
    return word.lower()
