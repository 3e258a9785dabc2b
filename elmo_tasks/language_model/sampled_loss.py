import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from elmo_tasks.kernels.compiled import kernels
from elmo_tasks.kernels.frozen_product import padded_rows
from elmo_tasks.kernels.trained_product import product, product_dtype, summed_product


class SampledLoss(torch.autograd.Function):
    """
    Computes the negative log-likelihood of each target, shape (tokens,), by a softmax over it and
    sampled classes. The logits are overwritten by values for the gradient, so there is only one
    tensor of shape (tokens, samples), in the dtype of the product. `target` has the logit of each
    target in float32, and `drawn` its index among the samples, or -1. A target among the samples
    counts once.
    """

    @staticmethod
    def forward(ctx, h, weight, bias, target, drawn):
        dtype = product_dtype(h)
        ctx.dtypes = h.dtype, weight.dtype
        h, weight = h.to(dtype), weight.to(dtype)
        # Rows of zeros are added, so the products come in few sizes.
        num_tokens, rows = len(h), padded_rows(len(h))
        h = pad(h, (0, 0, 0, rows - num_tokens))
        # Shape: (rows, samples)
        logits = product(h, weight)
        logits[num_tokens:] = 0
        grad_target, scales, losses = _softmax(logits[:num_tokens], bias, target, drawn)
        ctx.save_for_backward(h, weight, logits, grad_target, scales)
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        h, weight, exponentials, grad_target, scales = ctx.saved_tensors
        # The gradient of the logits is `exponentials`, with each row multiplied by its scale.
        # Instead, the rows of the other, narrower factors are multiplied by the scales.
        num_tokens = len(grad)
        scales = pad(scales * grad, (0, len(h) - num_tokens)).unsqueeze(1)
        scaled = (h * scales).to(h.dtype)
        wide = ctx.dtypes
        return (
            (product(exponentials, weight.t()) * scales)[:num_tokens].to(wide[0]),
            summed_product(exponentials, scaled).to(wide[1]),
            torch.mv(exponentials.t(), scales.squeeze(1).to(exponentials.dtype)).float(),
            grad_target * grad,
            None,
        )


def _softmax(
    logits: torch.Tensor, bias: torch.Tensor, target: torch.Tensor, drawn: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """
    Overwrites the logits with their exponentials, after subtracting the largest logit of each row.
    Returns, of shapes (tokens,), the gradient of the logit of each target, the factor that turns a
    row into probabilities, and the negative log-likelihood.
    """
    bias, target = bias.detach().contiguous(), target.detach().clone()
    compiled = kernels(logits.device.type, logits.dtype)
    if compiled is not None and target.dtype == torch.float32:
        losses, scales = torch.empty_like(target), torch.empty_like(target)
        columns = drawn.contiguous()
        compiled.softmax(*logits.shape, logits, bias, columns, target, losses, scales)
        return target, scales, losses
    rows = (drawn >= 0).nonzero().squeeze(1)
    wide = logits.to(target.dtype).add_(bias)
    wide[rows, drawn[rows]] = -torch.inf
    largest = torch.maximum(wide.amax(dim=1), target)
    logits.copy_(wide.sub_(largest.unsqueeze(1)).exp_())
    others, own = wide.sum(dim=1), torch.exp(target - largest)
    total = others + own
    return -others / total, 1 / total, torch.log(total) + largest - target
