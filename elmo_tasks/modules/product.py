import functools
from typing import Any

import torch
from allennlp.modules import FeedForward
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from elmo_tasks.bilm.frozen_product import packs

# oneDNN makes code for each shape of a product, some megabytes, and keeps it. Products thus read
# blocks of these numbers of tokens, whatever the number of tokens of a batch.
_BLOCK = 256
_SUM_BLOCKS = (512, 256)

# Rows of a recurrent step are multiplied in multiples of this number.
STEP_ROWS = 16


def product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """
    Computes x W^T + b, without a gradient. In float32 on a CPU with AVX-512, oneDNN computes it,
    which on AMD's CPUs is twice as fast as MKL behind `torch.nn.functional.linear`.

    # Parameters

    x, weight : `torch.Tensor`
        Shapes (tokens, in_dim) and (out_dim, in_dim), with any strides.
    bias : `torch.Tensor`, optional
        Shape (out_dim,).

    # Returns

    `torch.Tensor`
        Shape (tokens, out_dim).
    """
    if len(x) < _BLOCK or not uses_onednn(x):
        return linear(x, weight, bias)
    y = x.new_empty(len(x), len(weight))
    rest = len(x) % _BLOCK
    starts = list(range(0, len(x) - rest, _BLOCK))
    if rest > _BLOCK // 2:
        # The last block begins within the block before it.
        starts.append(len(x) - _BLOCK)
    elif rest:
        y[-rest:] = linear(x[-rest:], weight, bias)
    for start in starts:
        block = slice(start, start + _BLOCK)
        y[block] = _multiply(x[block], weight, bias)
    return y


def summed_product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """
    Computes X^T Y, without a gradient, for x and y of shapes (tokens, x_dim) and (tokens, y_dim):
    shape (x_dim, y_dim).
    """
    if not uses_onednn(x):
        return x.t().mm(y)
    total = x.new_zeros(x.size(1), y.size(1))
    start = 0
    for size in _SUM_BLOCKS:
        while len(x) - start > size // 2:
            parts = [each[start : start + size] for each in (x, y)]
            padding = (0, 0, 0, size - len(parts[0]))
            x_part, y_part = (torch.nn.functional.pad(part, padding) for part in parts)
            total += _multiply(x_part.t(), y_part.t())
            start += size
    return total.addmm_(x[start:].t(), y[start:]) if start < len(x) else total


def step_product(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    added: torch.Tensor | None = None,
) -> torch.Tensor:
    """
    Computes x W^T, plus either a bias, as `product` does, or a tensor of the result's shape. It is
    meant for the rows of a recurrent step, whose number is a multiple of `STEP_ROWS`.
    """
    if added is None:
        return _multiply(x, weight, bias) if uses_onednn(x) else linear(x, weight, bias)
    if not uses_onednn(x):
        return torch.addmm(added, x, weight.t())
    return torch.ops.mkldnn._linear_pointwise.binary(x, added, weight, None, "add")


def uses_onednn(x: torch.Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype == torch.float32 and _has_fast_onednn()


class Linear(torch.nn.Linear):
    """`torch.nn.Linear` with the products of `product`, forward and backward."""

    @classmethod
    def like(cls, layer: torch.nn.Linear) -> "Linear":
        """Returns a layer with the same weights, which are not copied."""
        has_bias = layer.bias is not None
        linear = torch.nn.utils.skip_init(cls, layer.in_features, layer.out_features, has_bias)
        linear.weight, linear.bias = layer.weight, layer.bias
        return linear

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return trained_product(x, self.weight, self.bias)


def use_products(feedforward: FeedForward) -> None:
    """Lets the layers of a feed-forward network compute by `product`, with the same weights."""
    for index, layer in enumerate(feedforward._linear_layers):
        feedforward._linear_layers[index] = Linear.like(layer)


def trained_product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Computes x W^T + b, with a gradient, for x of shape (..., in_dim)."""
    if not uses_onednn(x) or torch.is_autocast_enabled("cpu"):
        return linear(x, weight, bias)
    return _Product.apply(x.flatten(0, -2), weight, bias).unflatten(0, x.shape[:-1])


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
    ) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        return product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_y: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        by_x, by_weight, by_bias = ctx.needs_input_grad
        return (
            product(d_y, weight.t()) if by_x else None,
            summed_product(d_y, x) if by_weight else None,
            d_y.sum(dim=0) if by_bias else None,
        )


def _multiply(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


@functools.cache
def _has_fast_onednn() -> bool:
    return torch.backends.cpu.get_cpu_capability() == "AVX512" and packs(torch.float32)
