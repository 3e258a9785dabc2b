from typing import Any

import torch
from allennlp.modules import TextFieldEmbedder

from elmo_tasks.modules.text_embedder import EmbeddedText


class TokenVectors(torch.nn.Module):
    """
    The layer that the interpreters and attackers of `allennlp.interpret` look at: what a task model
    knows of each token, [x_k; ELMo_k], with the ELMo of both places. It returns the vectors that it
    gets.

    # Parameters

    words: The embedder of x_k, for `Hotflip`, which asks for the vectors of a vocabulary.
    """

    def __init__(self, words: TextFieldEmbedder) -> None:
        super().__init__()
        self.words = words

    def forward(self, vectors: Any) -> torch.Tensor:
        # AllenNLP's hooks change the output in place.
        return self.words(vectors) if isinstance(vectors, dict) else vectors.clone()


def passed_through(layer: torch.nn.Module, text: EmbeddedText, as_one: bool) -> EmbeddedText:
    """
    Lets the vectors of a text pass through a layer.

    # Parameters

    as_one: Whether the rows of `text` are the sentences of one document. The layer then gets the
        document's tokens as one row.
    """
    vectors = torch.cat([text.x, text.elmo], dim=-1)
    if as_one:
        vectors = vectors.masked_scatter(
            text.mask.unsqueeze(-1), layer(vectors[text.mask].unsqueeze(0))
        )
    else:
        vectors = layer(vectors)
    x, elmo = vectors.split([text.x.size(-1), text.elmo.size(-1)], dim=-1)
    return text._replace(x=x, elmo=elmo)
