"""
Computes the convolutions of a `CharCnn` by look-up. A filter's response to a window is a sum with
one term for each character and its position in the window. A table holds all these terms. On a CPU,
adding rows of the table takes a fraction of the time of multiplying windows with filters.
"""

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from elmo_tasks.kernels.compiled import kernels

# The number of filters that the compiled function handles together, as in `kernels.cpp`.
_BLOCK = 32


def looks_up(embedding: torch.Tensor) -> bool:
    """Returns whether the compiled functions can look up these embeddings."""
    # In bfloat16, only the functions of the LSTM are compiled.
    return (
        embedding.dtype == torch.float32
        and kernels(embedding.device.type, embedding.dtype) is not None
    )


def convolution_table(embedding: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """
    Returns the term of each character at each position in a window, for blocks of 32 filters: shape
    (blocks, width, characters, 32), the last block filled up with zeros. `embedding` has the shape
    (characters, char_dim), and `weight` (filters, char_dim, width).
    """
    filters = pad(weight, (0, 0, 0, 0, 0, -len(weight) % _BLOCK)).unflatten(0, (-1, _BLOCK))
    with torch.autocast(embedding.device.type, enabled=False):
        # Shape: (blocks, width, char_dim, 32)
        return embedding @ filters.permute(0, 3, 2, 1)


def lookup_convolution(
    char_ids: torch.Tensor, table: torch.Tensor, num_filters: int
) -> torch.Tensor:
    """
    Computes each filter's maximum over the windows of each token, shape (tokens, num_filters), from
    char ids of shape (tokens, 50) and a `convolution_table`. The last character in the table must
    be the padding, and the table must have all char ids.
    """
    return _LookupConvolution.apply(char_ids, table, num_filters)


class _LookupConvolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx, char_ids, table, num_filters):
        compiled = kernels(table.device.type, table.dtype)
        assert compiled is not None
        largest = table.new_empty(len(char_ids), num_filters)
        # The first window with the maximum, for the gradient.
        first = torch.empty(largest.shape, dtype=torch.uint8)
        alphabet, width = table.shape[2:0:-1]
        compiled.convolve(
            *char_ids.shape, alphabet, width, num_filters, char_ids, table, largest, first
        )
        ctx.save_for_backward(char_ids, first)
        ctx.shape = table.shape
        return largest

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        char_ids, first = ctx.saved_tensors
        grad_table = grad.new_zeros(ctx.shape)
        compiled = kernels(grad.device.type, grad.dtype)
        assert compiled is not None
        alphabet, width = ctx.shape[2:0:-1]
        sizes = *char_ids.shape, alphabet, width, grad.size(1)
        compiled.convolve_gradient(*sizes, char_ids, grad.contiguous(), first, grad_table)
        return None, grad_table, None
