"""
The convolutions of a `CharCnn` by look-up. A filter's response to a window is a sum with a term for
each character. The term depends only on the character and its position in the window, so a table
holds all terms. On a CPU, adding rows of the table and taking the maximum takes a fraction of the
time of the products of windows with filters.
"""

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from elmo_tasks.kernels.compiled import kernels

# The number of filters that the compiled function handles together, as in `kernels.cpp`.
_BLOCK = 32


def looks_up(embedding: torch.Tensor) -> bool:
    """Returns whether the compiled functions work for these embeddings."""
    return kernels(embedding.device.type, embedding.dtype) is not None


def convolution_table(embedding: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """
    Computes the terms of the responses.

    # Parameters

    embedding: Shape (characters, char_dim).
    weight: Shape (filters, char_dim, width).

    # Returns

    Shape (blocks, width, characters, 32): the term of each character at each position in a window,
    for blocks of 32 filters. The last block is filled up with zeros.
    """
    filters = pad(weight, (0, 0, 0, 0, 0, -len(weight) % _BLOCK)).unflatten(0, (-1, _BLOCK))
    with torch.autocast(embedding.device.type, enabled=False):
        # Shape: (blocks, width, char_dim, 32)
        return embedding @ filters.permute(0, 3, 2, 1)


def lookup_convolution(
    char_ids: torch.Tensor, table: torch.Tensor, num_filters: int
) -> torch.Tensor:
    """
    Computes each filter's maximum over the windows of each token.

    # Parameters

    char_ids (`torch.LongTensor`): Shape (tokens, 50). The last row of `table` is that of padding.
    table: What `convolution_table` returns.
    num_filters: The number of filters.

    # Returns

    Shape (tokens, num_filters).

    # Raises

    `IndexError`: An id has no row in the table.
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
