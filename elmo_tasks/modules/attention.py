import math

import torch
from allennlp.nn.util import masked_softmax, min_value_of_dtype, weighted_sum

# The number of scores held in memory at a time without gradients: 256 MB in float32.
_MAX_SCORES = 2**26


class TrilinearScore(torch.nn.Module):
    """
    Computes the attention score w1.p + w2.q + w3.(p * q) of all pairs of a row p and a row q (Seo
    et al. 2017, section 2, equation 1), both of width `dim`. The score is computed as three matrix
    products, without a tensor of shape (batch, rows p, rows q, dim). There is no bias, because the
    softmax would cancel it.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.p = torch.nn.Linear(dim, 1, bias=False)
        self.q = torch.nn.Linear(dim, 1, bias=False)
        # Shape: (1, dim)
        self.product = torch.nn.Parameter(torch.empty(1, dim))
        # Clark and Gardner's code draws these vectors by Keras' `glorot_uniform`, which takes the
        # width of a vector for both fans.
        limit = math.sqrt(6 / (dim + dim))
        for weight in (self.p.weight, self.q.weight, self.product):
            torch.nn.init.uniform_(weight, -limit, limit)

    def forward(self, p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        """Maps p and q of shape (batch, rows, dim) to scores of shape (batch, rows p, rows q)."""
        # Shape: (batch, 1, rows q)
        of_q = self.q(q).transpose(1, 2)
        return torch.baddbmm(of_q, p * self.product, q.transpose(1, 2)) + self.p(p)


class BidirectionalAttention(torch.nn.Module):
    """
    The attention of BiDAF (Seo et al. 2017, section 2, layer 4) between a passage and a question:
    [p; c2q; p * c2q; p * q2c]. c2q is the mean of the question's tokens, weighted by the attention
    of each token of the passage. q2c is a mean of the passage's tokens. Their weights are a softmax
    over each token's best score with any token of the question.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.score = TrilinearScore(dim)

    def get_output_dim(self) -> int:
        return 4 * self.score.product.size(1)

    def forward(
        self, p: torch.Tensor, q: torch.Tensor, p_mask: torch.Tensor, q_mask: torch.Tensor
    ) -> torch.Tensor:
        """
        Computes the attention, shape (batch, passage length, 4 * dim). p and q have the shapes
        (batch, passage length, dim) and (batch, question length, dim); the masks are true at their
        tokens.
        """
        # Shape: (batch, passage length, question length)
        scores = self.score(p, q)
        scores = scores.masked_fill(~q_mask.unsqueeze(1), min_value_of_dtype(scores.dtype))
        # Shape: (batch, passage length, dim)
        c2q = torch.softmax(scores, dim=-1).bmm(q)
        best = masked_softmax(scores.amax(dim=-1), p_mask, memory_efficient=True)
        # Shape: (batch, 1, dim)
        q2c = weighted_sum(p, best).unsqueeze(1)
        return torch.cat([p, c2q, p * c2q, p * q2c], dim=-1)


class SelfAttention(torch.nn.Module):
    """
    The attention of each token of a passage to the other tokens (Clark and Gardner 2017, section
    3.1). The weights are a softmax over the trilinear scores and one learned null score, which is
    the score of a vector of zeros. So a token that is similar to no other token attends mostly to
    zeros. No token attends to itself.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.score = TrilinearScore(dim)
        self.null_logit = torch.nn.Parameter(torch.tensor([-1.0]))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Maps x to the same shape (batch, length, dim). The mask has shape (batch, length)."""
        rows = x.size(1) if torch.is_grad_enabled() else max(1, _MAX_SCORES // mask.numel())
        starts = range(0, x.size(1), rows)
        return torch.cat([self._attend(x, mask, start, rows) for start in starts], dim=1)

    def _attend(self, x: torch.Tensor, mask: torch.Tensor, start: int, rows: int) -> torch.Tensor:
        """Computes the attention of `rows` tokens, from token `start` on."""
        # Shape: (batch, rows, length)
        scores = self.score(x[:, start : start + rows], x)
        itself = torch.ones_like(scores[0], dtype=torch.bool).triu(start).tril(start)
        hidden = itself | ~mask.unsqueeze(1)
        scores = scores.masked_fill(hidden, min_value_of_dtype(scores.dtype))
        # The sigmoid is the total weight of the tokens, about 0 if all tokens are hidden.
        total = scores.logsumexp(dim=-1, keepdim=True)
        return torch.sigmoid(total - self.null_logit) * torch.softmax(scores, dim=-1).bmm(x)
