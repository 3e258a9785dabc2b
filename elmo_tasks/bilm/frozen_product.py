import functools
import logging

import torch
from torch.nn.functional import linear

from elmo_tasks.bilm.weight_cache import WeightCache

logger = logging.getLogger(__name__)

# oneDNN lays a weight out for products of this number of rows, about that of an LSTM step. Products
# of other numbers of rows work as well.
_ROWS = 32


class FrozenProduct:
    """
    Computes x W^T + b for a weight that does not change. On a CPU the weight is laid out once for
    oneDNN, whose products then run several times as fast as `torch.nn.functional.linear` in
    float32, with no larger rounding errors. If PyTorch's operators for this are missing, or do not
    work on this machine, `linear` is used.

    # Parameters

    weight : `torch.Tensor`
        Shape (out_dim, in_dim).
    bias : `torch.Tensor | None`
        Shape (out_dim,).
    dtype : `torch.dtype | None`
        The dtype of the factors and of the result, by default that of the weight. On a CPU, a
        product in bfloat16 is summed in float32 and rounded once. oneDNN's product includes `added`
        in this sum; `linear` does not, so that the sum with `added` is rounded again.
    """

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self._dtype = dtype or weight.dtype
        weight = weight.detach().to(self._dtype)
        self._bias = None if bias is None else bias.detach().to(self._dtype)
        self._packs = weight.device.type == "cpu" and packs(self._dtype)
        self._weight = _pack(weight) if self._packs else weight

    def __call__(self, x: torch.Tensor, added: torch.Tensor | None = None) -> torch.Tensor:
        """
        # Parameters

        x : `torch.Tensor`
            Shape (rows, in_dim), of any dtype.
        added : `torch.Tensor`, optional
            Shape (rows, out_dim), in the dtype of the product; a term that is added to the result.

        # Returns

        `torch.Tensor`
            Shape (rows, out_dim). A new tensor; `added` does not change.
        """
        x = x.to(self._dtype)
        if not self._packs:
            product = linear(x, self._weight, self._bias)
            return product if added is None else product.add_(added)
        multiply = torch.ops.mkldnn._linear_pointwise
        if added is None:
            return multiply(x, self._weight, self._bias, "none", [], "")
        return multiply.binary(x, added, self._weight, self._bias, "add")


class Product:
    """Computes x W^T + b by a `FrozenProduct`, or by `linear` if a gradient is needed."""

    def __init__(self) -> None:
        self._frozen = WeightCache(FrozenProduct)

    def __call__(
        self,
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None = None,
        dtype: torch.dtype | None = None,
    ) -> torch.Tensor:
        if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
            return linear(x, weight, bias)
        weights = [weight] if bias is None else [weight, bias]
        return self._frozen.get(*weights, dtype=dtype)(x)


@functools.cache
def packs(dtype: torch.dtype) -> bool:
    """
    Returns whether oneDNN's products with laid-out weights exist on this machine and are right.
    Logs why not.
    """
    if dtype not in (torch.float32, torch.bfloat16) or not torch.backends.mkldnn.is_available():
        return False
    # This generator is separate, so that the random numbers of a training stay the same.
    generator = torch.Generator().manual_seed(0)
    x, added, weight, bias = (
        torch.randn(shape, generator=generator, dtype=dtype)
        for shape in ((4, 32), (4, 64), (64, 32), (64,))
    )
    try:
        packed = _pack(weight)
        plain = torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")
        summed = torch.ops.mkldnn._linear_pointwise.binary(x, added, packed, bias, "add")
        expected = linear(x, weight, bias)
        close = functools.partial(torch.allclose, rtol=0.02, atol=0.1)
        right = close(plain, expected) and close(summed, expected + added)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError) as error:
        logger.info("oneDNN cannot lay weights out here (%s); products are slower.", error)
        return False
    if not right:
        logger.info("oneDNN's products with laid-out weights are wrong here, so they are not used.")
    return right


def _pack(weight: torch.Tensor) -> torch.Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _ROWS)
