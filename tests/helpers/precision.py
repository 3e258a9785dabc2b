"""Comparisons of results that differ by rounding alone."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


def rounding_error(model: torch.nn.Module, num_tokens: int, dtype: torch.dtype) -> float:
    """
    Returns how far two sums of the same terms in different orders can be apart, relative to the
    largest value: the precision of `dtype` times the number of terms. The widest layer makes a sum
    for each token, and those of all tokens are summed in turn.
    """
    widest = max(max(parameter.shape, default=1) for parameter in model.parameters())
    return torch.finfo(dtype).eps * num_tokens * widest


@contextmanager
def in_dtype(model: torch.nn.Module, dtype: torch.dtype) -> Iterator[None]:
    """
    Casts a model to `dtype` within the context, where new tensors have it as well. AllenNLP's
    `CnnEncoder` needs the latter: it makes the mask of its windows in the default dtype.
    """
    default, before = torch.get_default_dtype(), next(model.parameters()).dtype
    model.to(dtype)
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(default)
        model.to(before)
