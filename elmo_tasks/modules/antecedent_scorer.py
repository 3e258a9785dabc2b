from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from allennlp.modules import FeedForward
from allennlp.nn.util import min_value_of_dtype
from torch.autograd.function import once_differentiable

from elmo_tasks.kernels.trained_product import product, summed_product
from elmo_tasks.modules.layers import check_input, use_products

# The number of mentions whose antecedents are scored at a time.
_BLOCK = 16

# Each group of distances shares an embedding: 1, 2, 3, 4, 5 to 7, 8 to 15, 16 to 31, 32 to 63, and
# 64 or more mentions. These are the smallest distances of all groups but the first.
_DISTANCES = (2, 3, 4, 5, 8, 16, 32, 64)


class Mentions(NamedTuple):
    """
    The mentions of a document, in their order.

    # Parameters

    g: Shape (mentions, span_dim): the vectors of their spans.
    scores: Shape (mentions,): the mention scores s_m.
    speakers (`torch.LongTensor`): Shape (mentions,): equal numbers for mentions of the same
        speaker.
    genre: Shape (feature_dim,): the embedding of the document's genre.
    """

    g: torch.Tensor
    scores: torch.Tensor
    speakers: torch.Tensor
    genre: torch.Tensor


class AntecedentBlock(NamedTuple):
    """
    The scores of the antecedents of some mentions.

    # Parameters

    rows, columns: The mentions i, and the mentions j that may be their antecedents.
    scores: Shape (rows, 1 + columns): the scores s(i, j). The first column stands for no antecedent
        and is 0. Where j cannot be an antecedent of i, the score is the smallest number of the
        dtype.
    """

    rows: slice
    columns: slice
    scores: torch.Tensor


class AntecedentScorer(torch.nn.Module):
    """
    Scores pairs of mentions as Lee et al. 2017, section 4, do: s(i, j) = s_m(i) + s_m(j) + s_a(i,
    j), where s_a is a feed-forward network over [g_i; g_j; g_i * g_j; features]. The features are
    the genre, whether the speakers are the same, and the number of mentions from j to i.

    The first layer of the network is a sum of matrix products, one for each part of its input. The
    products of g_i, g_j and the features are computed once, not once for each pair. Only the
    product for g_i * g_j is computed for each pair, for a block of mentions at a time.

    # Parameters

    feedforward: Computes s_a. Its input has width 3 * span_dim + 3 * feature_dim.
    span_dim: Width of g.
    feature_dim: Width of each feature's embedding.
    max_antecedents: How many of the mentions just before a mention can be its antecedent.
    dropout: Applied to the embeddings of the features, with one mask for all pairs
        that have the same features.
    """

    def __init__(
        self,
        feedforward: FeedForward,
        span_dim: int,
        feature_dim: int,
        max_antecedents: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        pair_dim, source = 3 * (span_dim + feature_dim), "3 * width of a span with 3 * feature_dim"
        check_input("antecedent_feedforward", feedforward, pair_dim, source)
        self.feedforward = feedforward
        use_products(feedforward)
        self.pair_scores = torch.nn.Linear(feedforward.get_output_dim(), 1)
        self.speaker_embedding = torch.nn.Embedding(2, feature_dim)
        self.distance_embedding = torch.nn.Embedding(len(_DISTANCES) + 1, feature_dim)
        self.dropout = torch.nn.Dropout(dropout)
        self.max_antecedents = max_antecedents
        self._widths = [span_dim, span_dim, span_dim, 3 * feature_dim]

    def forward(self, mentions: Mentions) -> Iterator[AntecedentBlock]:
        """Yields the scores of all mentions, block by block."""
        first = self.feedforward._linear_layers[0]
        of_mention, of_antecedent, of_both, of_features = first.weight.split(self._widths, dim=1)
        # A slice of columns is not contiguous, which makes products slower.
        of_both = of_both.contiguous()
        # Autocast does not cast what our own functions take.
        g = mentions.g.to(of_both.dtype)
        # Shapes: (mentions, hidden width)
        by_mention = mentions.g @ of_mention.t() + first.bias
        by_antecedent = mentions.g @ of_antecedent.t()
        # Shape: (2 * distances, hidden width)
        by_features = self._features(mentions.genre) @ of_features.t()
        limits = torch.tensor(_DISTANCES, device=mentions.g.device)
        num_mentions = len(mentions.g)
        for start in range(0, num_mentions, _BLOCK):
            rows = slice(start, min(start + _BLOCK, num_mentions))
            columns = slice(max(0, start - self.max_antecedents), rows.stop)
            # Shape: (rows, columns)
            distances = _range(rows, mentions).unsqueeze(1) - _range(columns, mentions)
            has_one_speaker = mentions.speakers[rows].unsqueeze(1) == mentions.speakers[columns]
            features = has_one_speaker * (len(_DISTANCES) + 1) + torch.bucketize(
                distances, limits, right=True
            )
            # Shape: (rows, columns, hidden width)
            with torch.autocast(g.device.type, enabled=False):
                hidden = PairProducts.apply(g[rows], g[columns], of_both)
            hidden = hidden + by_mention[rows].unsqueeze(1) + by_antecedent[columns]
            hidden = hidden + torch.nn.functional.embedding(features, by_features)
            scores = self.pair_scores(self._upper_layers(hidden)).squeeze(-1)
            scores = scores + mentions.scores[rows].unsqueeze(1) + mentions.scores[columns]
            possible = (distances > 0) & (distances <= self.max_antecedents)
            scores = scores.masked_fill(~possible, min_value_of_dtype(scores.dtype))
            yield AntecedentBlock(
                rows, columns, torch.cat([scores.new_zeros(len(scores), 1), scores], dim=1)
            )

    def _features(self, genre: torch.Tensor) -> torch.Tensor:
        """
        Returns the embeddings of the features for each group of distances: first for pairs of
        different speakers, then for pairs of the same speaker.
        """
        speaker, distance = self.speaker_embedding.weight, self.distance_embedding.weight
        return self.dropout(
            torch.cat(
                [
                    speaker.repeat_interleave(len(distance), dim=0),
                    genre.expand(2 * len(distance), -1),
                    distance.repeat(2, 1),
                ],
                dim=1,
            )
        )

    def _upper_layers(self, hidden: torch.Tensor) -> torch.Tensor:
        network = self.feedforward
        layers = zip(network._linear_layers, network._activations, network._dropout)
        for index, (linear, activation, dropout) in enumerate(layers):
            hidden = dropout(activation(hidden if index == 0 else linear(hidden)))
        return hidden


class PairProducts(torch.autograd.Function):
    """
    Computes W (a_i * b_j) for all i and j: shape (rows, columns, out_dim). a, b and W have the
    shapes (rows, dim), (columns, dim) and (out_dim, dim). The products a_i * b_j take more memory
    than the result, so the backward pass computes them again.
    """

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(a, b, weight)
        return product(_products(a, b), weight).unflatten(0, (len(a), len(b)))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a, b, weight = ctx.saved_tensors
        d_out = d_out.flatten(0, 1)
        d_weight = summed_product(d_out, _products(a, b))
        d_products = product(d_out, weight.t()).unflatten(0, (len(a), len(b)))
        # `torch.einsum` would copy the products.
        return (d_products * b).sum(dim=1), d_products.mul_(a.unsqueeze(1)).sum(dim=0), d_weight


def _products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a.unsqueeze(1) * b).flatten(0, 1)


def _range(indices: slice, mentions: Mentions) -> torch.Tensor:
    return torch.arange(indices.start, indices.stop, device=mentions.g.device)
