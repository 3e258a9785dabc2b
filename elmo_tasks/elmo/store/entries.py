"""Turns the layers of a sentence into bytes and back."""

import numpy
import torch

from elmo_tasks.common.errors import ConfigurationError

Array = numpy.ndarray


def encode(layers: torch.Tensor, dtype: str) -> Array:
    """
    Makes an entry, an array of bytes, from layers of shape (num_layers, length, dim) on the CPU.
    The two halves of layer 0 are equal, so an entry has only one half of layer 0. It has the other
    layers whole.

    # Raises

    `ConfigurationError`: A value is too large for the dtype, or not finite.
    """
    rounded = layers.to(getattr(torch, dtype)).numpy()
    if not numpy.isfinite(rounded).all():
        raise ConfigurationError(
            f"a layer of the biLM has a value beyond {dtype}, the dtype of its store"
        )
    half = rounded.shape[2] // 2
    # Shape: ((2 * num_layers - 1) * length, dim / 2)
    rows = numpy.concatenate([rounded[0, :, :half], rounded[1:].reshape(-1, half)])
    return rows.ravel().view(numpy.uint8)


def decode(entry: Array, dtype: str, layers: Array) -> None:
    """Writes an entry into layers of shape (num_layers, length, dim)."""
    _, length, dim = layers.shape
    rows = entry.view(dtype).reshape(-1, dim // 2)
    layers[0, :, : dim // 2] = rows[:length]
    layers[0, :, dim // 2 :] = rows[:length]
    layers[1:] = rows[length:].reshape(-1, length, dim)


def entry_bytes(num_layers: int, length: int, dim: int, dtype: str) -> int:
    """Returns the size of the entry that `encode` makes of layers of this shape."""
    return length * (2 * num_layers - 1) * (dim // 2) * numpy.dtype(dtype).itemsize
