from collections.abc import Callable
from typing import NamedTuple

import torch
from torch.nn.functional import embedding

from elmo_tasks.common.distinct_rows import distinct_rows


class TokenVectors(NamedTuple):
    """
    Holds x^LM of a batch, computed once for each distinct token.

    # Parameters

    vectors: Shape (distinct tokens, projection_dim).
    rows (`torch.LongTensor`): Shape (batch * length,): the row of `vectors` for each index of the
        flattened batch.
    """

    vectors: torch.Tensor
    rows: torch.Tensor

    @classmethod
    def of(
        cls, char_ids: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]
    ) -> "TokenVectors":
        """
        Computes x^LM of a batch.

        # Parameters

        char_ids (`torch.LongTensor`): Shape (batch, length, 50).
        compute: Computes x^LM, shape (tokens, projection_dim), of char ids of shape (tokens, 50).
        """
        distinct, rows = distinct_rows(char_ids.flatten(0, 1))
        return cls(compute(distinct), rows)

    def at(self, index: torch.Tensor) -> torch.Tensor:
        """Returns x^LM at indices of the flattened batch: shape (indices, projection_dim)."""
        return embedding(self.rows[index], self.vectors)
