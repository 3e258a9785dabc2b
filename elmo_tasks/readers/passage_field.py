from allennlp.data import Token, Vocabulary
from allennlp.data.fields import TextField


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
