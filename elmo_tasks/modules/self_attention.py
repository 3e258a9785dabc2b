import torch
from allennlp.nn.util import min_value_of_dtype

from elmo_tasks.modules.trilinear import TrilinearScore

# The number of scores held in memory at a time without gradients: 256 MB in float32.
_MAX_SCORES = 2**26


class SelfAttention(torch.nn.Module):
    """
    The attention of each token of a passage to the other tokens (Clark and Gardner 2017, section
    3.1). The weights are a softmax over the trilinear scores and one learned null score. The null
    score belongs to a vector of zeros. A token that finds nothing attends to this vector. No token
    attends to itself.

    # Parameters

    dim: Width of the tokens.
    null_logit (default `-1.0`): The initial value of the null score.
    """

    def __init__(self, dim: int, null_logit: float = -1.0) -> None:
        super().__init__()
        self.score = TrilinearScore(dim)
        self.null_logit = torch.nn.Parameter(torch.tensor([null_logit]))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """
        # Parameters

        x: Shape (batch, length, dim).
        mask (`torch.BoolTensor`): Shape (batch, length).

        # Returns

        Shape (batch, length, dim).
        """
        rows = x.size(1) if torch.is_grad_enabled() else max(1, _MAX_SCORES // mask.numel())
        starts = range(0, x.size(1), rows)
        return torch.cat([self._found(x, mask, start, rows) for start in starts], dim=1)

    def _found(self, x: torch.Tensor, mask: torch.Tensor, start: int, rows: int) -> torch.Tensor:
        """Computes what `rows` tokens, from token `start` on, find in the passage."""
        # Shape: (batch, rows, length)
        scores = self.score(x[:, start : start + rows], x)
        itself = torch.ones_like(scores[0], dtype=torch.bool).triu(start).tril(start)
        hidden = itself | ~mask.unsqueeze(1)
        scores = scores.masked_fill(hidden, min_value_of_dtype(scores.dtype))
        # The sigmoid is the total weight of the tokens, about 0 if all tokens are hidden.
        total = scores.logsumexp(dim=-1, keepdim=True)
        return torch.sigmoid(total - self.null_logit) * torch.softmax(scores, dim=-1).bmm(x)
