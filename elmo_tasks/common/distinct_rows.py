from typing import NamedTuple

import torch
from torch.nn.functional import embedding


class DistinctTokens(NamedTuple):
    """
    # Parameters

    vectors : `torch.Tensor`
        Shape (distinct tokens, projection_dim): x^LM, once for each distinct token of a batch.
    places : `torch.LongTensor`
        Shape (places of the batch,): which of them is where.
    """

    vectors: torch.Tensor
    places: torch.Tensor

    def at(self, index: torch.Tensor) -> torch.Tensor:
        """x^LM at the given places: shape (places, projection_dim)."""
        return embedding(self.places[index], self.vectors)


def distinct_rows(char_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """
    The distinct rows of `char_ids` of shape (tokens, 50), and for each token the number of its
    row. Rows are compared by a hash of 64 bits, ten times as fast as `torch.unique` over rows, and
    then in full, so that the answer does not rest on the hash.
    """
    if len(char_ids) == 0:
        return char_ids, char_ids.new_zeros(0)
    hashes = (char_ids * _factors(char_ids)).sum(dim=1)
    hashes, places = torch.unique(hashes, return_inverse=True)
    # Of the rows of one hash any will do, so long as they are all the same.
    chosen = places.new_zeros(len(hashes))
    chosen[places] = torch.arange(len(char_ids), device=char_ids.device)
    distinct = char_ids[chosen]
    if torch.equal(distinct[places], char_ids):
        return distinct, places
    return torch.unique(char_ids, dim=0, return_inverse=True)


def _factors(char_ids: torch.Tensor) -> torch.Tensor:
    """Odd numbers of 64 bits, the same in every process."""
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(-(2**62), 2**62, (char_ids.size(1),), generator=generator) * 2 + 1
    return factors.to(char_ids.device)
