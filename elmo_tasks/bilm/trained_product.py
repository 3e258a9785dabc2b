import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from elmo_tasks.bilm.frozen_product import FrozenProduct, packs


def trained_product(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """
    Computes x W^T + b with a gradient, as `torch.nn.functional.linear` does. In float32 on a CPU,
    oneDNN does the products, forward and backward, which on some CPUs takes less than half of the
    time of PyTorch's own.
    """
    autocast = torch.is_autocast_enabled(x.device.type)
    if autocast or x.dtype != torch.float32 or not _by_onednn(x):
        return linear(x, weight, bias)
    return _TrainedProduct.apply(x, weight, bias)


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
    if x.dtype == torch.float32 and _by_onednn(x) and len(x) > 0:
        return torch.ops.mkldnn._linear_pointwise(x.t(), grad.t(), None, "none", [], "").t()
    return torch.mm(grad.t(), x)


def product_dtype(inputs: torch.Tensor) -> torch.dtype:
    """Returns the dtype of matrix products with these inputs: autocast's, or that of the inputs."""
    device = inputs.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else inputs.dtype


class _TrainedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return FrozenProduct(weight, bias)(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        return (
            FrozenProduct(weight.t())(grad) if needs_x else None,
            summed_product(grad, x) if needs_weight else None,
            grad.sum(dim=0) if needs_bias else None,
        )


def _by_onednn(x: torch.Tensor) -> bool:
    return x.device.type == "cpu" and packs(x.dtype)
