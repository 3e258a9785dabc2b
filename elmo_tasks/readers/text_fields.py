from collections.abc import Sequence

from allennlp.data import Token, Vocabulary
from allennlp.data.fields import TextField


class DocumentField(TextField):
    """
    The tokens of a document in one row. A model divides the row into the sentences again. So
    tensors have no padding between sentences, however different their lengths are.

    # Parameters

    sentences: At least one sentence, each of at least one token.
    """

    def __init__(self, sentences: Sequence[list[Token]]) -> None:
        super().__init__([token for sentence in sentences for token in sentence])
        self.sentences = sentences


def sentences_of(text: TextField) -> Sequence[list[Token]]:
    """
    Returns what a biLM reads one by one: the sentences of a document, or any other text as a whole.
    """
    return text.sentences if isinstance(text, DocumentField) else [text.tokens]


class PassageField(TextField):
    """
    A text field that several instances share, such as the passage of several questions. It is
    indexed once, and memory holds its char ids once.
    """

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self._vocab: Vocabulary | None = None

    def index(self, vocab: Vocabulary) -> None:
        if vocab is not self._vocab:
            super().index(vocab)
            self._vocab = vocab
