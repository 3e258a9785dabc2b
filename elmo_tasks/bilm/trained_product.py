"""
Matrix products of a training. In float32 on a CPU, oneDNN does them, which on some CPUs takes less
than half of the time of PyTorch's own products. In contrast to a `FrozenProduct`, a weight is not
laid out first, which pays only for a weight that is used many times.
"""

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from elmo_tasks.bilm.frozen_product import packs


def trained_product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Computes x W^T + b with a gradient, as `torch.nn.functional.linear` does."""
    autocast = torch.is_autocast_enabled(x.device.type)
    return linear(x, weight, bias) if autocast else _TrainedProduct.apply(x, weight, bias)


def product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Computes x W^T + b without a gradient, for tensors of one dtype."""
    if not _by_onednn(x):
        return linear(x, weight, bias)
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def summed_product(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """
    Computes the gradient of a weight, the sum over the rows of the products of two vectors.

    # Parameters

    grad, x : `torch.Tensor`
        Shapes (rows, out_dim) and (rows, in_dim), of one dtype.

    # Returns

    `torch.Tensor`
        Shape (out_dim, in_dim).
    """
    # oneDNN is fast if the narrower matrix is the first.
    if x.size(1) <= grad.size(1):
        return product(x.t(), grad.t()).t()
    return product(grad.t(), x.t())


def summed(grad: torch.Tensor) -> torch.Tensor:
    """
    Computes the gradient of a bias, the sum over the rows. As a product it takes a tenth of the
    time of `sum` in bfloat16.
    """
    return torch.mv(grad.t(), grad.new_ones(len(grad)))


def product_dtype(inputs: torch.Tensor) -> torch.dtype:
    """Returns the dtype of matrix products with these inputs: autocast's, or that of the inputs."""
    device = inputs.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else inputs.dtype


class _TrainedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        return (
            product(grad, weight.t()) if needs_x else None,
            summed_product(grad, x) if needs_weight else None,
            summed(grad) if needs_bias else None,
        )


def _by_onednn(x: torch.Tensor) -> bool:
    return x.device.type == "cpu" and len(x) > 0 and packs(x.dtype)
