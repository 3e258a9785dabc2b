from collections.abc import Sequence

from allennlp.data import Token
from allennlp.data.fields import TextField


class DocumentField(TextField):
    """
    The tokens of a document in one row, which a model divides into the sentences again. Tensors
    thus have no padding between the sentences, however different their lengths are.

    # Parameters

    sentences : `Sequence[list[Token]]`
        At least one sentence, each of at least one token.
    """

    def __init__(self, sentences: Sequence[list[Token]]) -> None:
        super().__init__([token for sentence in sentences for token in sentence])
        self.sentences = sentences


def sentences_of(text: TextField) -> Sequence[list[Token]]:
    """Returns the sentences of a text that a biLM reads one by one: one unless it is a document."""
    return text.sentences if isinstance(text, DocumentField) else [text.tokens]
