from collections.abc import Iterable, Sequence

from allennlp.data import Vocabulary
from allennlp.data.fields import LabelField, MultiLabelField, SequenceLabelField, TextField

from elmo_tasks.common.text import listed
from elmo_tasks.readers.entities import SCHEMES, split_tag, tag_of

# The index of a label that the training data lacks. No model predicts it.
UNKNOWN_LABEL = -1

# The namespace of genres. AllenNLP adds no tokens for padding and unknown words to a namespace
# whose name ends in "labels".
GENRES = "genre_labels"


class KnownLabelField(LabelField):
    """
    A label. A label that the training data lacks is an error, whose message begins with `origin`:
    the file and the line.
    """

    __slots__ = ["origin"]

    def __init__(self, label: str, origin: str) -> None:
        super().__init__(label)
        self.origin = origin

    def index(self, vocab: Vocabulary) -> None:
        _check_known(vocab, self._label_namespace, [str(self.label)], self.origin)
        super().index(vocab)


class KnownLabelsField(MultiLabelField):
    """
    Any number of labels. A label that the training data lacks is an error, as in `KnownLabelField`.
    """

    def __init__(self, labels: Sequence[str], namespace: str, origin: str) -> None:
        super().__init__(labels, label_namespace=namespace)
        self.origin = origin

    def index(self, vocab: Vocabulary) -> None:
        _check_known(vocab, self._label_namespace, map(str, self.labels), self.origin)
        super().index(vocab)

    def empty_field(self) -> "KnownLabelsField":
        return KnownLabelsField([], self._label_namespace, "")


class GenreField(LabelField):
    """
    The genre of a document. It is `UNKNOWN_LABEL` if the document has no genre, or if the training
    data lacks the genre.
    """

    def __init__(self, genre: str | None) -> None:
        super().__init__(genre or "", GENRES)

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        if self.label:
            super().count_vocab_items(counter)

    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(GENRES)
        self._label_id = known.get(self.label, UNKNOWN_LABEL)


class TagsField(SequenceLabelField):
    """
    The tags of a sentence.

    # Parameters

    scheme: `BIO` or `BIOUL` for tags of spans. A vocabulary then has all tags of the scheme for
        each type that occurs, such as I-PER, even if no entity of the training data has three
        tokens. Without a scheme, any tag may follow any other.
    origin: The file and the line of the first tag. With it, a tag that the vocabulary lacks is an
        error with file and line. By default such a tag is `UNKNOWN_LABEL`, because data for
        validation may have rare tags or roles that the training data lacks.
    """

    __slots__ = ["scheme", "origin"]

    def __init__(
        self,
        tags: list[str],
        tokens: TextField,
        scheme: str | None = None,
        origin: tuple[str, int] | None = None,
    ) -> None:
        super().__init__(tags, tokens)
        self.scheme = scheme
        self.origin = origin

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        if self.scheme is None:
            super().count_vocab_items(counter)
            return
        counts = counter[self._label_namespace]
        for tag in ["O", *self.labels]:
            prefix, type_ = split_tag(tag)
            for each in SCHEMES[self.scheme] if prefix != "O" else "O":
                counts[tag_of(each, type_)] += 1

    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(self._label_namespace)
        for index, tag in enumerate(self.labels):
            if tag not in known and self.scheme is not None and self.origin is not None:
                types = sorted({split_tag(each)[1] for each in known} - {""})
                raise ValueError(
                    f"{self.origin[0]}:{self.origin[1] + index}: the model does not know the tag "
                    f"{tag}; it was trained on {self.scheme} tags of the types "
                    f"{', '.join(types) or '(none)'}"
                )
        self._indexed_labels = [known.get(tag, UNKNOWN_LABEL) for tag in self.labels]  # type: ignore[misc]


def _check_known(vocab: Vocabulary, namespace: str, labels: Iterable[str], origin: str) -> None:
    known = vocab.get_token_to_index_vocabulary(namespace)
    for label in labels:
        if label not in known:
            raise ValueError(
                f"{origin}the model does not know the label {label!r}; it was trained on "
                f"{listed(sorted(known))}"
            )
