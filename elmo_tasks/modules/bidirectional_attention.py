import torch
from allennlp.nn.util import masked_softmax, min_value_of_dtype, weighted_sum

from elmo_tasks.modules.trilinear import TrilinearScore


class BidirectionalAttention(torch.nn.Module):
    """
    The attention of BiDAF (Seo et al. 2017, section 2, layer 4) between a passage and a question:
    [p; c2q; p * c2q; p * q2c]. c2q is the mean of the question's tokens, weighted by the attention
    of each token of the passage. q2c is a mean of the passage's tokens, weighted by the softmax of
    their best scores with any token of the question.

    # Parameters

    dim: Width of the tokens of passage and question.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.score = TrilinearScore(dim)

    def get_output_dim(self) -> int:
        return 4 * self.score.product.size(1)

    def forward(
        self,
        p: torch.Tensor,
        q: torch.Tensor,
        p_mask: torch.Tensor,
        q_mask: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """
        # Parameters

        p, q: Shapes (batch, passage length, dim) and (batch, question length, dim).
        p_mask, q_mask (`torch.BoolTensor`): Shapes (batch, passage length) and (batch, question
            length).

        # Returns

        `torch.Tensor`: Shape (batch, passage length, 4 * dim).
        `torch.Tensor`: The weights of c2q: shape (batch, passage length, question length).
        """
        # Shape: (batch, passage length, question length)
        scores = self.score(p, q)
        scores = scores.masked_fill(~q_mask.unsqueeze(1), min_value_of_dtype(scores.dtype))
        weights = torch.softmax(scores, dim=-1)
        # Shape: (batch, passage length, dim)
        c2q = weights.bmm(q)
        best = masked_softmax(scores.amax(dim=-1), p_mask, memory_efficient=True)
        # Shape: (batch, 1, dim)
        q2c = weighted_sum(p, best).unsqueeze(1)
        return torch.cat([p, c2q, p * c2q, p * q2c], dim=-1), weights
