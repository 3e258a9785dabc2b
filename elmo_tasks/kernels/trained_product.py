"""
Computes matrix products for training. On a CPU, oneDNN computes them, on some CPUs in less than
half the time of PyTorch's own products in float32. The weight keeps its memory layout, because it
changes with every update; a `FrozenProduct` copies its weight into oneDNN's layout. The rows are
padded or divided into blocks of few sizes (see `padded_rows`).
"""

import functools

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear, pad

from elmo_tasks.kernels.frozen_product import extend_rows, has_onednn, onednn_product, padded_rows

_BLOCK = 512

# The number of rows in a product of a recurrent step is a multiple of this.
STEP_ROWS = 16


def trained_product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """
    Computes x W^T + b with a gradient, as `torch.nn.functional.linear` does, for x of shape
    (..., in_dim). Under autocast, the result has autocast's dtype.
    """
    return _TrainedProduct.apply(x.flatten(0, -2), weight, bias).unflatten(0, x.shape[:-1])


def product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """
    Computes x W^T + b without a gradient, shape (tokens, out_dim), for tensors of one dtype with
    any strides.
    """
    if not _by_onednn(x):
        return linear(x, weight, bias)
    rows = padded_rows(len(x))
    if rows == len(x) or len(x) < _BLOCK or len(weight) >= x.size(1):
        return _multiply(extend_rows(x, rows), weight, bias)[: len(x)]
    # The result is narrower than x, so copying the blocks' results costs less than padding x.
    return torch.cat([product(block, weight, bias) for block in x.split(_BLOCK)])


def summed_product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """
    Computes X^T Y without a gradient, shape (x_dim, y_dim), for x and y of one dtype and of shapes
    (tokens, x_dim) and (tokens, y_dim). For bfloat16, the result is in float32.
    """
    if x.size(1) > y.size(1):
        # oneDNN is fast if the first matrix is the narrower one.
        return summed_product(y, x).t()
    dtype = torch.promote_types(x.dtype, torch.float32)
    if not _has_avx512() or not _by_onednn(x):
        return x.t().mm(y).to(dtype)
    if padded_rows(len(x)) == len(x):
        return _multiply(x.t(), y.t()).to(dtype)
    total = x.new_zeros(x.size(1), y.size(1), dtype=dtype)
    for x_block, y_block in zip(x.split(_BLOCK), y.split(_BLOCK)):
        num_padding = padded_rows(len(x_block)) - len(x_block)
        if num_padding:
            x_block, y_block = (pad(block, (0, 0, 0, num_padding)) for block in (x_block, y_block))
        total += _multiply(x_block.t(), y_block.t())
    return total


def sum_rows(grad: torch.Tensor) -> torch.Tensor:
    """
    Computes the sum over the rows by a matrix product. In bfloat16, this takes a tenth of the time
    of `sum`.
    """
    return torch.mv(grad.t(), grad.new_ones(len(grad)))


def step_product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """
    Computes `product` for one step of an LSTM or GRU. The number of rows of `x` must be a multiple
    of `STEP_ROWS`.
    """
    fast = _has_avx512() and _by_onednn(x)
    return _multiply(x, weight, bias) if fast else linear(x, weight, bias)


def product_dtype(inputs: torch.Tensor) -> torch.dtype:
    """Returns the dtype of products with these inputs: autocast's dtype, or that of the inputs."""
    device = inputs.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else inputs.dtype


class _TrainedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        dtype = product_dtype(x)
        ctx.dtypes = [None if tensor is None else tensor.dtype for tensor in (x, weight, bias)]
        x, weight, bias = (
            tensor if tensor is None else tensor.to(dtype) for tensor in (x, weight, bias)
        )
        ctx.save_for_backward(x, weight)
        return product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        return (
            product(grad, weight.t()).to(ctx.dtypes[0]) if needs_x else None,
            summed_product(grad, x).to(ctx.dtypes[1]) if needs_weight else None,
            sum_rows(grad).to(ctx.dtypes[2]) if needs_bias else None,
        )


def _multiply(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    # oneDNN takes a thousand times as long for a weight with gaps in memory between its rows or
    # columns, such as a part of the columns of another matrix.
    if not weight.is_contiguous() and not weight.t().is_contiguous():
        weight = weight.contiguous()
    return onednn_product(x, weight, bias)


def _by_onednn(x: torch.Tensor) -> bool:
    return x.device.type == "cpu" and len(x) > 0 and has_onednn(x.dtype)


@functools.cache
def _has_avx512() -> bool:
    # With AVX2 alone, oneDNN is no faster for products of few rows and of transposed matrices.
    return torch.backends.cpu.get_cpu_capability() == "AVX512"
