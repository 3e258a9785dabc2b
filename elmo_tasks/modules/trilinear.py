import math

import torch


class TrilinearScore(torch.nn.Module):
    """
    Computes the attention score w1.p + w2.q + w3.(p * q) of all pairs of a row p and a row q (Seo
    et al. 2017, section 2, equation 1). Three products avoid a tensor of shape (batch, rows p, rows
    q, dim). There is no bias, because the softmax would cancel it.

    # Parameters

    dim: Width of p and q.
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
        """
        # Parameters

        p: Shape (batch, rows p, dim).
        q: Shape (batch, rows q, dim).

        # Returns

        Shape (batch, rows p, rows q).
        """
        # Shape: (batch, 1, rows q)
        of_q = self.q(q).transpose(1, 2)
        return torch.baddbmm(of_q, p * self.product, q.transpose(1, 2)) + self.p(p)
