from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch

T = TypeVar("T")


class WeightCache(Generic[T]):
    """
    Keeps a value that was computed from weights, and computes it again when the weights have
    changed. The value is neither copied nor saved with the module that holds the cache.

    # Parameters

    make: Computes the value from the weights, and from settings given by name.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._make = make
        # The state of the weights, some of their numbers, and the value made from them.
        self._kept: tuple[list[Any], list[torch.Tensor], T] | None = None

    def get(self, *weights: torch.Tensor, **settings: Any) -> T:
        """Returns the cached value. Computes it anew if a weight or a setting has changed."""
        seen: list[Any] = [(part.data_ptr(), _version(part), part.device) for part in weights]
        seen.append(settings)
        # A write through `.data` does not change the version, so some numbers are compared too.
        samples = [weight.detach().flatten()[:: 1 + weight.numel() // 512] for weight in weights]
        # `_kept` is read and set as a whole, because two threads may use it.
        kept = self._kept
        if kept is None or seen != kept[0] or not _equal(samples, kept[1]):
            value = self._make(*weights, **settings)
            kept = self._kept = seen, [sample.clone() for sample in samples], value
        return kept[2]

    def __deepcopy__(self, _: Any) -> "WeightCache[T]":
        return WeightCache(self._make)

    def __reduce__(self) -> tuple[Any, ...]:
        return WeightCache, (self._make,)


def _version(weight: torch.Tensor) -> int | None:
    """
    Returns a number that changes with each write to the weight. Inference tensors have no such
    number.
    """
    return None if weight.is_inference() else weight._version


def _equal(samples: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    # While a CUDA graph is captured, the CPU cannot read numbers from the GPU.
    if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
        return True
    return all(torch.equal(sample, other) for sample, other in zip(samples, others))
