"""The vectors of a biLM that are compared with each other."""

from collections.abc import Iterable

import torch

from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.elmo import ElmoEncoder

# The values of each measure, several if it was measured with several draws.
Rows = dict[str, list[float]]

MEAN, SIDE_BY_SIDE = "mean of the layers", "layers side by side"


def views(layers: torch.Tensor) -> dict[str, torch.Tensor]:
    """
    Returns each layer, then all layers side by side, then their mean.

    # Parameters

    layers: Shape (rows, num_layers, 2 * projection_dim). Layer 0 is x^LM, twice side by side, which
        is returned once.
    """
    tokens, *contextual = layers.unbind(1)
    views_of_tokens = [tokens.chunk(2, dim=1)[0], *contextual]
    views = {layer_name(index): layer for index, layer in enumerate(views_of_tokens)}
    return {**views, SIDE_BY_SIDE: torch.cat(views_of_tokens, dim=1), MEAN: layers.mean(1)}


def mean_vectors(encoder: ElmoEncoder, sentences: Iterable[list[str]]) -> torch.Tensor:
    """
    Returns the mean of each layer over the tokens of each sentence, which has at least one: shape
    (sentences, num_layers, 2 * projection_dim).
    """
    return torch.stack([layers.mean(1) for layers in encoder.layers(sentences)])
