"""Matrix products compared with the same products of operands without gaps in memory."""

import time
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from elmo_tasks.kernels.threads import operator_threads

_OPERATORS = {
    *("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::mv", "aten::addmv"),
    *("aten::convolution", "aten::convolution_backward", "mkldnn::_linear_pointwise"),
}

# A turn that other work on the machine disturbed is followed by better ones.
_TURNS = 50


class Product(NamedTuple):
    """A product as it was called."""

    operator: Any
    arguments: tuple[Any, dict[str, Any]]

    def __str__(self) -> str:
        layouts = [(str(t.dtype), *_layout(t)) for t in _tensors(self.arguments)]
        return f"{self.operator._schema.name} of {layouts}"

    def is_slow(self) -> bool:
        """
        Returns whether this product takes 1.5 times as long as one of contiguous copies of its
        operands, and 20 microseconds more. The quickest turns of CPU time are compared.
        """
        calls = self.arguments, tree_map(_copy, self.arguments)
        quickest = [float("inf"), float("inf")]
        with operator_threads(1), torch.no_grad():
            for turn in range(_TURNS):
                for index, (args, kwargs) in enumerate(calls):
                    start = time.thread_time()
                    self.operator(*args, **kwargs)
                    quickest[index] = min(quickest[index], time.thread_time() - start)
                here, contiguous = quickest
                # The first turn may compile code.
                if turn > 0 and here <= 1.5 * contiguous + 20e-6:
                    return False
                if turn > 2 and here > 20 * contiguous + 1e-3:
                    return True
        return True


class Products(TorchDispatchMode):
    """
    Collects the products that are called within this context and have an operand with gaps or in
    another order: one for each operator, shapes and strides. Weights that oneDNN has laid out are
    no such operands.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[tuple[Any, ...], Product] = {}
        self.num_calls = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        arguments = (args, kwargs or {})
        if func._schema.name in _OPERATORS:
            self.num_calls += 1
            tensors = _tensors(arguments)
            if not all(tensor.is_contiguous() for tensor in tensors):
                key = func, *((tensor.dtype, *_layout(tensor)) for tensor in tensors)
                self.found.setdefault(key, Product(func, arguments))
        return func(*args, **(kwargs or {}))

    def slow(self) -> list[str]:
        """Returns what the slow products are (see `Product.is_slow`)."""
        return [str(product) for product in self.found.values() if product.is_slow()]


def _tensors(arguments: Any) -> list[torch.Tensor]:
    leaves = tree_leaves(arguments)
    return [each for each in leaves if isinstance(each, torch.Tensor) and not each.is_mkldnn]


def _layout(tensor: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(tensor.shape), tensor.stride()


def _copy(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or leaf.is_mkldnn:
        return leaf
    return leaf.contiguous()
