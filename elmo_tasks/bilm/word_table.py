import torch
from torch.nn.functional import embedding

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.lexicon import Lexicon, words_of


class WordTable(torch.nn.Module):
    """
    Gives each word of a vocabulary a trained vector as its x^LM, in place of the character CNN.
    bilm-tf does the same if its options lack `char_cnn`. Any other word has the vector of `<UNK>`.

    # Parameters

    options: The number of words and the width.
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__()
        self.lexicon = Lexicon(options.num_words)
        self.embedding = torch.nn.Parameter(torch.empty(options.num_words, options.projection_dim))
        # As TensorFlow does by default.
        torch.nn.init.xavier_uniform_(self.embedding)

    def forward(self, char_ids: torch.Tensor) -> torch.Tensor:
        """Returns x^LM of shape (tokens, projection_dim) for char ids of shape (tokens, 50)."""
        rows = self.lexicon.rows(words_of(char_ids))
        return embedding(rows.to(self.embedding.device), self.embedding)
