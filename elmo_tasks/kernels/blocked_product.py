import torch

from elmo_tasks.kernels.compiled import kernels
from elmo_tasks.kernels.frozen_product import FrozenProduct
from elmo_tasks.kernels.threads import for_each, two_at_once

# The logits of this many rows and classes are computed at a time: 2 MB fit into a CPU's cache. Half
# as many, or four times as many, were as fast.
_ROWS, _CLASSES = 512, 1024


class BlockedProduct:
    """
    Computes the logits x W^T + b of many classes, block by block, so that their log-sum-exp needs
    little memory. The weight W has shape (classes, dim), and is in float32, or in int8 with a
    `scale` for each row.
    """

    def __init__(
        self, weight: torch.Tensor, bias: torch.Tensor, scale: torch.Tensor | None = None
    ) -> None:
        blocks = (slice(k, k + _CLASSES) for k in range(0, len(weight), _CLASSES))
        self._products = [
            FrozenProduct(
                scaled(weight[block], scale if scale is None else scale[block]), bias[block]
            )
            for block in blocks
        ]

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([product(x) for product in self._products], dim=1)

    def log_sums(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the log-sum-exp of the logits of x of shape (rows, dim): shape (rows,)."""
        allowed = x.device.type == "cpu" and not x.requires_grad
        with two_at_once(allowed, min(len(x), _ROWS) * _CLASSES * x.size(1)) as at_once:
            rows = x.chunk(2 if at_once else 1)
            return torch.cat(for_each(self._of_rows, rows, at_once))

    def _of_rows(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.new_empty(0), *map(self._log_sums, x.split(_ROWS))])

    def _log_sums(self, x: torch.Tensor) -> torch.Tensor:
        compiled = kernels(x.device.type, x.dtype)
        if compiled is None:
            return torch.stack([p(x).logsumexp(dim=1) for p in self._products]).logsumexp(dim=0)
        largest, sums = x.new_full((len(x),), -1e30), x.new_zeros(len(x))
        for product in self._products:
            logits = product(x)
            compiled.log_sum(*logits.shape, logits, largest, sums)
        return largest + sums.log()


def scaled(weight: torch.Tensor, scale: torch.Tensor | None) -> torch.Tensor:
    """Returns rows of a weight in float32, each multiplied by its scale, if any."""
    return weight if scale is None else weight.float() * scale.unsqueeze(1)
