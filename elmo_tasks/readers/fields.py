from collections.abc import Iterable, Sequence

from allennlp.data import Vocabulary
from allennlp.data.fields import LabelField, MultiLabelField, SequenceLabelField, TextField

from elmo_tasks.common.text import listed
from elmo_tasks.readers.entities import SCHEMES, split_tag, tag_of
from elmo_tasks.readers.tag_scheme import TagScheme

# The index of a label that the training data lacks. No model predicts it.
UNKNOWN_LABEL = -1

# The namespace of genres. AllenNLP adds no tokens for padding and unknown words to a namespace
# whose name ends in "labels".
GENRES = "genre_labels"
# The namespace of how the training data write the tags of spans. AllenNLP adds no tokens to a
# namespace whose name ends in "tags" either.
_WRITTEN = "written_tags"


class KnownLabelField(LabelField):
    """
    A label. A label that the training data lacks raises an error. Its message begins with `origin`,
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
    Any number of labels. A label that the training data lacks raises an error, as in
    `KnownLabelField`.
    """

    def __init__(self, labels: Sequence[str], namespace: str, origin: str) -> None:
        super().__init__(labels, label_namespace=namespace)
        self.origin = origin

    def index(self, vocab: Vocabulary) -> None:
        _check_known(vocab, self._label_namespace, map(str, self.labels), self.origin)
        super().index(vocab)


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
        ids = vocab.get_token_to_index_vocabulary(GENRES)
        self._label_id = ids.get(self.label, UNKNOWN_LABEL)


class TagsField(SequenceLabelField):
    """
    The tags of a sentence.

    # Parameters

    scheme: `BIO` or `BIOUL` for tags of spans. A vocabulary then has all tags of the scheme for
        each type that occurs: for example I-PER, even if no person in the training data has three
        tokens. Without a scheme, any tag may follow any other tag.
    origins: The file and the line of each tag, for error messages. If they are given, a tag that
        the vocabulary lacks raises an error. Without them, such a tag is `UNKNOWN_LABEL`, because
        validation data may have rare tags or roles that the training data lacks.
    file_scheme: The scheme in which the file has the tags. A vocabulary keeps it in the namespace
        `written_tags`.
    """

    __slots__ = ["scheme", "origins", "file_scheme"]

    def __init__(
        self,
        tags: list[str],
        tokens: TextField,
        scheme: str | None = None,
        origins: Sequence[str] | None = None,
        file_scheme: TagScheme | None = None,
    ) -> None:
        super().__init__(tags, tokens)
        self.scheme = scheme
        self.origins = origins
        self.file_scheme = file_scheme

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        if self.scheme is None:
            super().count_vocab_items(counter)
            return
        counts = counter[self._label_namespace]
        for tag in ["O", *self.labels]:
            prefix, type_ = split_tag(tag)
            for letter in SCHEMES[self.scheme] if prefix != "O" else "O":
                counts[tag_of(letter, type_)] += 1
        if self.file_scheme is not None:
            counter[_WRITTEN][str(self.file_scheme)] += 1

    def index(self, vocab: Vocabulary) -> None:
        if self.origins is not None:
            for tag, origin in zip(self.labels, self.origins, strict=True):
                _check_known(vocab, self._label_namespace, [tag], origin)
        ids = vocab.get_token_to_index_vocabulary(self._label_namespace)
        self._indexed_labels = [ids.get(tag, UNKNOWN_LABEL) for tag in self.labels]  # type: ignore[misc]


def written_scheme(vocab: Vocabulary) -> TagScheme:
    """
    Returns the scheme in which most of a model's training data wrote the tags of spans. Returns BIO
    if the vocabulary has no scheme. The vocabulary of the model `ner`, for example, has none.
    """
    names = vocab.get_index_to_token_vocabulary(_WRITTEN)
    return TagScheme.parse(names[0]) if names else TagScheme()


def _check_known(vocab: Vocabulary, namespace: str, labels: Iterable[str], origin: str) -> None:
    names = vocab.get_token_to_index_vocabulary(namespace)
    for label in labels:
        if label not in names:
            raise ValueError(
                f"{origin}the model does not know the label {label!r}; it was trained on "
                f"{listed(sorted(names))}"
            )
