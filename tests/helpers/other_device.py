"""
A device that is not the CPU, for a machine that has no other. Its tensors say that they lie on the
device `meta`, and hold numbers all the same. As on a GPU, an operator takes no tensors of two
devices, and `numpy` takes none of that device.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = torch.device("meta")

# A GPU, too, copies from another device, and takes indices from the CPU.
_BETWEEN_DEVICES = ("aten::copy_", "aten::_to_copy")
_INDEXED = ("aten::index", "aten::index_put_", "aten::_index_put_impl_")


@contextmanager
def other_device() -> Iterator[list[str]]:
    """
    Lets `DEVICE` compute within this context. Yields a list that receives the names of operators
    for which the CPU waits.
    """
    enabled, autocast = torch.is_autocast_enabled, torch.autocast

    def is_autocast_enabled(device: str) -> bool:
        return device != DEVICE.type and enabled(device)

    def no_autocast(device: str, *arguments: Any, **settings: Any) -> Any:
        return nullcontext() if device == DEVICE.type else autocast(device, *arguments, **settings)

    waits: list[str] = []
    with (
        mock.patch("torch.is_autocast_enabled", is_autocast_enabled),
        mock.patch("torch.autocast", no_autocast),
        _NewTensors(),
        _Operators(waits),
    ):
        yield waits


class _NewTensors(TorchFunctionMode):
    """Makes tensors of numbers, which PyTorch makes without an operator that `_Operators` sees."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.tensor and kwargs.get("device") is not None:
            return func(*args, **{**kwargs, "device": "cpu"}).to(kwargs["device"])
        if func is torch.Tensor.new_tensor:
            return torch.tensor(args[1], dtype=args[0].dtype).to(args[0].device)
        return func(*args, **kwargs)


class _Operators(TorchDispatchMode):
    def __init__(self, waits: list[str]) -> None:
        super().__init__()
        self.waits = waits

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = _run(func, args, kwargs or {})
        name = func._schema.name
        if name in _WAITS or (name == "aten::_to_copy" and not isinstance(result, _Tensor)):
            self.waits.append(name)
        return result


# The CPU needs a result of these before it goes on.
_WAITS = ("aten::_local_scalar_dense", "aten::nonzero", "aten::equal", "aten::_unique2")


class _Tensor(torch.Tensor):
    """A tensor of the other device; `inner` has its numbers."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> "_Tensor":
        tensor = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            inner.size(),
            strides=None if inner.is_sparse else inner.stride(),
            dtype=inner.dtype,
            layout=inner.layout,
            device=DEVICE,
        )
        tensor.inner = inner
        return tensor

    def tolist(self) -> Any:
        return self.inner.tolist()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    ours = {id(tensor.inner): tensor for tensor in tensors if isinstance(tensor, _Tensor)}
    name = func._schema.name
    plain_tensors = [t for t in tensors if not isinstance(t, _Tensor) and t.dim() > 0]
    is_indexed = name in _INDEXED and isinstance(args[0], _Tensor)
    if ours and plain_tensors and name not in _BETWEEN_DEVICES and not is_indexed:
        raise RuntimeError(f"{name} got tensors of two devices")
    device = kwargs.get("device")
    is_ours = bool(ours) if device is None else torch.device(device) == DEVICE
    if device is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    inner_args, inner_kwargs = tree_map(
        lambda leaf: leaf.inner if isinstance(leaf, _Tensor) else leaf, (args, kwargs)
    )
    result = func(*inner_args, **inner_kwargs)
    if name == "aten::copy_":
        return args[0]

    def wrap(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        # An operator that works in place returns its argument.
        return ours.get(id(leaf)) if id(leaf) in ours else _Tensor(leaf) if is_ours else leaf

    return tree_map(wrap, result)
