from collections.abc import Iterable, Sequence

from allennlp.data import Vocabulary
from allennlp.data.fields import LabelField, MultiLabelField

from elmo_tasks.common.spelling import listed


class KnownLabelField(LabelField):
    """
    A label. A label that the training data lacks is an error with file and line.

    # Parameters

    origin: The beginning of the error message: the file and the line.
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
    Any number of labels. A label that the training data lacks is an error with file and line.

    # Parameters

    namespace: The labels' namespace in the vocabulary.
    origin: The beginning of the error message: the file and the line.
    """

    def __init__(self, labels: Sequence[str], namespace: str, origin: str) -> None:
        super().__init__(labels, label_namespace=namespace)
        self.origin = origin

    def index(self, vocab: Vocabulary) -> None:
        _check_known(vocab, self._label_namespace, map(str, self.labels), self.origin)
        super().index(vocab)

    def empty_field(self) -> "KnownLabelsField":
        return KnownLabelsField([], self._label_namespace, "")


def _check_known(vocab: Vocabulary, namespace: str, labels: Iterable[str], origin: str) -> None:
    known = vocab.get_token_to_index_vocabulary(namespace)
    for label in labels:
        if label not in known:
            raise ValueError(
                f"{origin}the model does not know the label {label!r}; it was trained on "
                f"{listed(sorted(known))}"
            )
