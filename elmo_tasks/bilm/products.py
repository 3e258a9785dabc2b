import functools
import logging
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch.nn.functional import linear

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Rows for which oneDNN lays a weight out: about a step of an LSTM. Others run as well.
_ROWS = 32


class FrozenProduct:
    """
    x W^T + b for a weight that does not change. On a CPU the weight is laid out once for oneDNN,
    whose products then run several times as fast as `torch.nn.functional.linear` in float32, with
    no more rounding; where PyTorch's operators for that are missing, changed or not for this
    machine, it is `linear`.

    # Parameters

    weight : `torch.Tensor`
        Shape (out_dim, in_dim).
    bias : `torch.Tensor | None`
        Shape (out_dim,).
    dtype : `torch.dtype | None`
        The dtype of the product and of its result, by default that of the weight. On a CPU, a
        product in bfloat16 is summed in float32 and rounded once. oneDNN's product includes
        `added` in this sum; `linear` does not, so that the sum with `added` is rounded again.
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
            Shape (rows, out_dim), in the dtype of the product.

        # Returns

        `torch.Tensor`
            Shape (rows, out_dim); never `added` itself.
        """
        x = x.to(self._dtype)
        if not self._packs:
            product = linear(x, self._weight, self._bias)
            return product if added is None else product.add_(added)
        multiply = torch.ops.mkldnn._linear_pointwise
        if added is None:
            return multiply(x, self._weight, self._bias, "none", [], "")
        return multiply.binary(x, added, self._weight, self._bias, "add")


class Derived(Generic[T]):
    """
    Something made of weights, and made anew when they are others. It is not copied or saved with
    the module that holds it.

    # Parameters

    make : `Callable`
        Makes it of the weights.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._make = make
        self._seen: list[Any] = []
        self._samples: list[torch.Tensor] = []
        self._value: T | None = None

    def of(self, *weights: torch.Tensor, **settings: Any) -> T:
        """Made of these weights and settings, now or before."""
        seen: list[Any] = [(part.data_ptr(), part._version, part.device) for part in weights]
        seen.append(settings)
        # A write through `.data` leaves the version as it was.
        samples = [weight.detach().flatten()[:: 1 + weight.numel() // 512] for weight in weights]
        if self._value is None or seen != self._seen or not _equal(samples, self._samples):
            self._value = self._make(*weights, **settings)
            self._seen, self._samples = seen, [sample.clone() for sample in samples]
        return self._value

    def __deepcopy__(self, _: Any) -> "Derived[T]":
        return Derived(self._make)

    def __reduce__(self) -> tuple[Any, ...]:
        return Derived, (self._make,)


class Product:
    """x W^T + b: a `FrozenProduct` where no gradient is wanted, and `linear` where one is."""

    def __init__(self) -> None:
        self._frozen = Derived(FrozenProduct)

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
        return self._frozen.of(*weights, dtype=dtype)(x)


@functools.cache
def packs(dtype: torch.dtype) -> bool:
    """Whether oneDNN's products of laid out weights are there and right, and says if not."""
    if dtype not in (torch.float32, torch.bfloat16) or not torch.backends.mkldnn.is_available():
        return False
    # Its own, so that a training draws the same numbers whether or not this was asked before.
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
        logger.info("Weights are not laid out for oneDNN (%s); products are slower.", error)
        return False
    if not right:
        logger.info("oneDNN's products of laid out weights are not right here; not used.")
    return right


def _pack(weight: torch.Tensor) -> torch.Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _ROWS)


def _equal(samples: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    return all(torch.equal(sample, other) for sample, other in zip(samples, others))
