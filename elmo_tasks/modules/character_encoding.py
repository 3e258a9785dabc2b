import torch
from allennlp.modules import TokenEmbedder
from allennlp.modules.token_embedders import TokenCharactersEncoder

from elmo_tasks.common.distinct_rows import distinct_rows


@TokenEmbedder.register("elmo_character_encoding")
class DistinctCharactersEncoder(TokenCharactersEncoder):
    """
    AllenNLP's `character_encoding`, with the same weights under the same names and the same output,
    but the encoder runs only once for each distinct token of a batch.

    Registered as a `TokenEmbedder` with name "elmo_character_encoding". It has the parameters of
    AllenNLP's class.
    """

    def forward(self, token_characters: torch.Tensor) -> torch.Tensor:
        """
        # Parameters

        token_characters (`torch.LongTensor`): Shape (batch, length, characters), 0 for padding.

        # Returns

        Shape (batch, length, output_dim).
        """
        distinct, rows = distinct_rows(token_characters.flatten(0, 1))
        distinct = distinct.unsqueeze(0)
        # Shape: (distinct tokens, output_dim)
        vectors = self._encoder(self._embedding(distinct), distinct != 0)[0]
        vectors = torch.nn.functional.embedding(rows, vectors)
        return self._dropout(vectors.view(*token_characters.shape[:2], -1))
