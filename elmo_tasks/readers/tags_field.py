from allennlp.data import Vocabulary
from allennlp.data.fields import SequenceLabelField, TextField

from elmo_tasks.readers.entities import SCHEMES, split_tag, tag_of


class TagsField(SequenceLabelField):
    """
    The tags of a sentence. For each type that occurs, a vocabulary counts all tags of the scheme.
    So a model knows the tag I-PER, for example, even if no entity in its training data had three
    tokens. A tag that is not in the vocabulary is an error with file and line.

    # Parameters

    tags: A tag for each token.
    tokens: The sentence.
    scheme: `BIO` or `BIOUL`.
    origin: The file and the line of the first tag, for errors.
    """

    __slots__ = ["scheme", "origin"]

    def __init__(
        self, tags: list[str], tokens: TextField, scheme: str, origin: tuple[str, int] | None = None
    ) -> None:
        super().__init__(tags, tokens)
        self.scheme = scheme
        self.origin = origin

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        counts = counter[self._label_namespace]
        for tag in ["O", *self.labels]:
            prefix, type_ = split_tag(tag)
            for each in SCHEMES[self.scheme] if prefix != "O" else "O":
                counts[tag_of(each, type_)] += 1

    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        for index, tag in enumerate(self.labels):
            if tag not in known:
                types = sorted({split_tag(each)[1] for each in known} - {""})
                raise ValueError(
                    f"{self._line(index)}the model does not know the tag {tag}; it was trained "
                    f"on {self.scheme} tags of the types {', '.join(types) or '(none)'}"
                )
        super().index(vocab)

    def _line(self, index: int) -> str:
        return "" if self.origin is None else f"{self.origin[0]}:{self.origin[1] + index}: "
