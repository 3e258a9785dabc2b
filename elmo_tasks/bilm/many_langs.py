import torch
from torch.nn.functional import embedding, linear

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.lexicon import Lexicon, words_of
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN

# ELMoForManyLangs swaps the marks of words: a word begins with `<eow>` and ends with `<bow>`.
BEGIN_WORD, END_WORD, PADDING = b"<eow>", b"<bow>", b"<pad>"

_BOUNDARIES = (BEGIN_TOKEN.encode(), END_TOKEN.encode())


class ManyLangsTokens(torch.nn.Module):
    """
    Computes x^LM as ELMoForManyLangs does (Che et al. 2018). A character CNN and a table of words
    each give a token a vector, and a projection maps both to x^LM. Characters that `char.dic` lacks
    and words that `word.dic` lacks count as `<UNK>`.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__()
        self.words = Lexicon(options.num_words)
        # The last character is the padding.
        self.characters = Lexicon(options.num_listed)
        self.word_embedding = torch.nn.Parameter(torch.zeros(options.num_words, options.word_dim))
        # The part of the projection that takes the vector of the word.
        self.word_projection = torch.nn.Parameter(
            torch.zeros(options.projection_dim, options.word_dim)
        )
        self.char_cnn = CharCnn(options)

    @property
    def embedding(self) -> torch.Tensor:
        return self.char_cnn.embedding

    def forward(self, char_ids: torch.Tensor) -> torch.Tensor:
        """Returns x^LM of shape (tokens, projection_dim) for char ids of shape (tokens, 50)."""
        words = words_of(char_ids)
        x = self.char_cnn(self._characters(words).to(char_ids.device))
        rows = self.words.rows(words).to(char_ids.device)
        return x + linear(embedding(rows, self.word_embedding), self.word_projection)

    def _characters(self, words: list[bytes]) -> torch.Tensor:
        """
        Returns the ids that `char.dic` gives the characters of words, padded: shape (tokens, 50).
        """
        width = self.char_cnn.max_characters
        entries: list[bytes] = []
        for word in words:
            characters = [character.encode() for character in word.decode("utf-8", "ignore")]
            inner = [word] if word in _BOUNDARIES else characters[: width - 2]
            ids = [BEGIN_WORD, *inner, END_WORD]
            entries += ids + [PADDING] * (width - len(ids))
        # Row 0 of the CNN's embedding is for the padding of a batch.
        return self.characters.rows(entries).view(len(words), width) + 1
