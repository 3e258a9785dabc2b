from typing import Any

import torch
from allennlp.data import Vocabulary
from allennlp.modules import TokenEmbedder
from allennlp.modules.token_embedders import TokenCharactersEncoder
from torch.nn.functional import pad

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tensors import distinct_rows


@TokenEmbedder.register("elmo_character_cnn")
class CharacterCnn(TokenEmbedder):
    """
    A CNN over the first characters of each token, as in Clark and Gardner 2017: convolution, ReLU,
    and the maximum over the windows that begin within the token. Every token is padded or cut to
    `max_characters`, so its vector does not depend on the other tokens of the batch. The CNN runs
    once for each distinct token of a batch, so equal tokens share a dropout mask.

    Registered as a `TokenEmbedder` with name "elmo_character_cnn".

    # Parameters

    embedding_dim: Width of a character's vector.
    num_filters: Width of a token's vector.
    width: The number of characters in a window.
    max_characters: The number of characters of a token that are read, at least `width`.
    dropout: Applied to each element of the characters' vectors.
    vocab_namespace
    """

    def __init__(
        self,
        vocab: Vocabulary,
        embedding_dim: int,
        num_filters: int,
        width: int,
        max_characters: int = 14,
        dropout: float = 0.2,
        vocab_namespace: str = "token_characters",
    ) -> None:
        super().__init__()
        self._vocab_namespace = vocab_namespace
        if max_characters < width:
            raise ConfigurationError(
                f"max_characters must be at least the width of a window, {width}, "
                f"not {max_characters}"
            )
        num_characters = vocab.get_vocab_size(vocab_namespace)
        self._unknown = vocab.get_token_index(vocab._oov_token, vocab_namespace)
        self.embedding = torch.nn.Embedding(num_characters, embedding_dim, padding_idx=0)
        self.dropout = torch.nn.Dropout(dropout)
        self.convolution = torch.nn.Conv1d(embedding_dim, num_filters, width)
        self.max_characters = max_characters
        torch.nn.init.uniform_(self.embedding.weight, -0.05, 0.05)
        with torch.no_grad():
            self.embedding.weight[0] = 0

    def get_output_dim(self) -> int:
        return self.convolution.out_channels

    def forward(self, token_characters: torch.Tensor) -> torch.Tensor:
        """
        Maps characters of shape (batch, length, characters), 0 for padding, to vectors of shape
        (batch, length, num_filters), zeros at padding.
        """
        # A negative padding cuts the tokens.
        ids = pad(token_characters, (0, self.max_characters - token_characters.size(2)))
        distinct, rows = distinct_rows(ids.flatten(0, 1))
        # Shape: (distinct tokens, embedding_dim, max_characters)
        x = self.dropout(self.embedding(distinct)).transpose(1, 2)
        # Shape: (distinct tokens, num_filters, windows)
        windows = torch.relu(self.convolution(x))
        begins_inside = (distinct[:, : windows.size(2)] > 0).unsqueeze(1)
        # Windows that begin in padding are set to zero. After ReLU no value is below zero, so these
        # windows do not change the maximum.
        vectors = (windows * begins_inside).amax(dim=2)
        return torch.nn.functional.embedding(rows, vectors).view(*ids.shape[:2], -1)

    def extend_vocab(self, extended_vocab: Vocabulary, **_: Any) -> None:
        """
        Adds a row for each character that was added at the end of the vocabulary, as AllenNLP's
        `--extend-vocab` asks for. New rows have the vector of the unknown character.
        """
        num_added = (
            extended_vocab.get_vocab_size(self._vocab_namespace) - self.embedding.num_embeddings
        )
        if num_added > 0:
            weight = self.embedding.weight.detach()
            added = weight[self._unknown].expand(num_added, -1)
            self.embedding = torch.nn.Embedding.from_pretrained(
                torch.cat([weight, added]),
                freeze=not self.embedding.weight.requires_grad,
                padding_idx=0,
            )


@TokenEmbedder.register("elmo_character_encoding")
class DistinctCharactersEncoder(TokenCharactersEncoder):
    """
    Works as AllenNLP's `character_encoding`, with weights of the same names, but runs the encoder
    only once for each distinct token of a batch.

    Registered as a `TokenEmbedder` with name "elmo_character_encoding". It has the parameters of
    AllenNLP's class.
    """

    def forward(self, token_characters: torch.Tensor) -> torch.Tensor:
        distinct, rows = distinct_rows(token_characters.flatten(0, 1))
        distinct = distinct.unsqueeze(0)
        # Shape: (distinct tokens, output_dim)
        vectors = self._encoder(self._embedding(distinct), distinct != 0)[0]
        vectors = torch.nn.functional.embedding(rows, vectors)
        return self._dropout(vectors.view(*token_characters.shape[:2], -1))
