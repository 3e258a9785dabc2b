from allennlp.data import Vocabulary
from allennlp.data.fields import LabelField

# AllenNLP adds no tokens for padding and unknown words to a namespace whose name ends in "labels".
GENRES = "genre_labels"

# The index of a genre that is not known.
UNKNOWN_GENRE = -1


class GenreField(LabelField):
    """
    The genre of a document, as a scalar tensor. It is `UNKNOWN_GENRE` if the document has no genre,
    or if the vocabulary lacks the genre.
    """

    def __init__(self, genre: str | None) -> None:
        super().__init__(genre or "", GENRES)

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        if self.label:
            super().count_vocab_items(counter)

    def index(self, vocab: Vocabulary) -> None:
        known = vocab.get_token_to_index_vocabulary(GENRES)
        self._label_id = known.get(self.label, UNKNOWN_GENRE)
