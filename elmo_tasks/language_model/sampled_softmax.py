import math

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding, linear, pad

from elmo_tasks.common.processes import broadcast, rank
from elmo_tasks.kernels.compiled import kernels
from elmo_tasks.kernels.frozen_product import padded_rows
from elmo_tasks.kernels.trained_product import product, product_dtype, summed_product

# The full softmax computes this many logits at a time: 8 MB in float32, which is faster than larger
# parts. Memory is bounded too, except in training, which keeps all logits for the gradient.
_LOGITS_AT_A_TIME = 1 << 21


class SampledSoftmax(torch.nn.Module):
    """
    The softmax of the biLM over its vocabulary (Peters et al. 2018, section 3.1). In training, the
    softmax is only over the target and a sample of words. Process 0 draws the sample for all
    processes, log-uniformly and without replacement. The logarithm of each word's expected count in
    the sample is subtracted from its logit, as in TensorFlow's `sampled_softmax_loss` (Jean et al.
    2015).

    # Parameters

    num_words: Size of the vocabulary, in which the most frequent words must come first. Padding, id
        0, is included, but is not a class.
    dim: Width of the inputs.
    num_samples: Number of words drawn for each batch. With `None`, or for a vocabulary of at most
        `num_samples` words, training uses the full softmax.
    """

    def __init__(self, num_words: int, dim: int, num_samples: int | None = None) -> None:
        super().__init__()
        self.num_classes = num_words - 1
        is_sampled = num_samples is not None and num_samples < self.num_classes
        self.num_samples = num_samples if is_sampled else None
        self.weight = torch.nn.Parameter(torch.empty(self.num_classes, dim))
        with torch.no_grad():
            self.weight.copy_(torch.randn(self.num_classes, dim) / math.sqrt(dim))
        self.bias = torch.nn.Parameter(torch.zeros(self.num_classes, 1))
        for parameter in (self.weight, self.bias):
            parameter.register_post_accumulate_grad_hook(_sum_rows)

    def forward(self, h: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """
        Returns negative log-likelihoods in float32, shape (tokens,), given h of shape (tokens, dim)
        and the ids of the words to predict.
        """
        targets = words - 1
        if self.training and self.num_samples is not None:
            return self._sampled_loss(h, targets, *self._draw_for_all(self.num_samples))
        return self._full_loss(h, targets)

    def _full_loss(self, h: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        num_classes = max(1, _LOGITS_AT_A_TIME // max(1, len(h)))
        parts = zip(self.weight.split(num_classes), self.bias.squeeze(1).split(num_classes))
        target = torch.zeros(len(h), device=h.device)
        sums = []
        for first, part in zip(range(0, self.num_classes, num_classes), parts):
            logits = linear(h, *part).float()
            sums.append(logits.logsumexp(dim=1))
            rows = ((targets >= first) & (targets < first + num_classes)).nonzero().squeeze(1)
            target[rows] = logits[rows, targets[rows] - first]
        return torch.stack(sums).logsumexp(dim=0) - target

    def _sampled_loss(
        self, h: torch.Tensor, targets: torch.Tensor, samples: torch.Tensor, num_draws: int
    ) -> torch.Tensor:
        samples = samples.to(h.device)
        classes = torch.cat([samples, targets])
        # Sparse gradients hold only the rows used.
        weight = embedding(classes, self.weight, sparse=True)
        bias = embedding(classes, self.bias, sparse=True).squeeze(1)
        bias = bias - self._expected_count(classes, num_draws).log()
        num_samples = len(samples)
        # Shape: (tokens,)
        target = (h * weight[num_samples:]).sum(dim=1).float() + bias[num_samples:]
        # A target that is also in the sample counts once.
        columns = torch.full((self.num_classes,), -1, device=h.device)
        columns[samples] = torch.arange(num_samples, device=h.device)
        return SampledLoss.apply(
            h, weight[:num_samples], bias[:num_samples], target, columns[targets]
        )

    def _draw_for_all(self, num_samples: int) -> tuple[torch.Tensor, int]:
        if rank().num_processes == 1:
            return self._draw(num_samples)
        sample = torch.zeros(num_samples + 1, dtype=torch.long)
        if rank().process == 0:
            sample[:-1], sample[-1] = self._draw(num_samples)
        sample = sample.to(self.weight.device)
        broadcast([sample])
        return sample[:-1], int(sample[-1])

    def _draw(self, num_samples: int) -> tuple[torch.Tensor, int]:
        """
        Draws classes until `num_samples` are distinct. Returns these classes, and the number of
        draws.
        """
        draws = torch.empty(0, dtype=torch.long)
        while True:
            uniform = torch.rand(4 * num_samples, dtype=torch.float64)
            more = torch.exp(uniform * math.log(self.num_classes + 1)).long() - 1
            draws = torch.cat([draws, more.clamp_(max=self.num_classes - 1)])
            # The classes are taken in the order of their first draws.
            classes, inverse = torch.unique(draws, return_inverse=True)
            if len(classes) >= num_samples:
                first = torch.full((len(classes),), len(draws)).scatter_reduce(
                    0, inverse, torch.arange(len(draws)), "amin"
                )
                first, order = first.sort()
                return classes[order[:num_samples]], int(first[num_samples - 1]) + 1

    def _expected_count(self, classes: torch.Tensor, num_draws: int) -> torch.Tensor:
        probability = torch.log1p(1 / (classes.double() + 1)) / math.log(self.num_classes + 1)
        return -torch.expm1(num_draws * torch.log1p(-probability)).float()


def _sum_rows(parameter: torch.Tensor) -> None:
    """
    Adds up the rows of a sparse gradient that have the same index. Otherwise, the norm of the
    gradient and the optimizer would each do this.
    """
    if parameter.grad is not None and parameter.grad.is_sparse:
        parameter.grad = parameter.grad.coalesce()


class SampledLoss(torch.autograd.Function):
    """
    Computes the negative log-likelihood of each target, shape (tokens,), by a softmax over the
    target and the sampled classes. `target` has the logit of each target in float32. `sample` has
    the index of each target among the sampled classes, or -1. A target that is also in the sample
    counts only once. Values for the gradient overwrite the logits, so only one tensor of the shape
    (tokens, samples) is in memory. Its dtype is that of the matrix product.
    """

    @staticmethod
    def forward(ctx, h, weight, bias, target, sample):
        dtype = product_dtype(h)
        ctx.dtypes = h.dtype, weight.dtype
        h, weight = h.to(dtype), weight.to(dtype)
        # Rows of zeros are added, so that the products have few sizes (see `padded_rows`).
        num_tokens, rows = len(h), padded_rows(len(h))
        h = pad(h, (0, 0, 0, rows - num_tokens))
        # Shape: (rows, samples)
        logits = product(h, weight)
        logits[num_tokens:] = 0
        grad_target, scales, losses = _softmax(logits[:num_tokens], bias, target, sample)
        ctx.save_for_backward(h, weight, logits, grad_target, scales)
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        h, weight, exponentials, grad_target, scales = ctx.saved_tensors
        # The gradient of the logits is `exponentials` with each row multiplied by its scale. The
        # scales multiply the rows of the other factors instead, because these are narrower.
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
    logits: torch.Tensor, bias: torch.Tensor, target: torch.Tensor, sample: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """
    Overwrites the logits with their exponentials, after subtracting the largest logit of each row.
    Returns three tensors of shape (tokens,): the gradient of each target's logit, the factor that
    turns a row into probabilities, and the negative log-likelihood.
    """
    bias, target = bias.detach().contiguous(), target.detach().clone()
    compiled = kernels(logits.device.type, logits.dtype)
    if compiled is not None and target.dtype == torch.float32:
        losses, scales = torch.empty_like(target), torch.empty_like(target)
        columns = sample.contiguous()
        compiled.softmax(*logits.shape, logits, bias, columns, target, losses, scales)
        return target, scales, losses
    rows = (sample >= 0).nonzero().squeeze(1)
    wide = logits.to(target.dtype).add_(bias)
    wide[rows, sample[rows]] = -torch.inf
    largest = torch.maximum(wide.amax(dim=1), target)
    logits.copy_(wide.sub_(largest.unsqueeze(1)).exp_())
    other_sum, target_share = wide.sum(dim=1), torch.exp(target - largest)
    total = other_sum + target_share
    return -other_sum / total, 1 / total, torch.log(total) + largest - target
