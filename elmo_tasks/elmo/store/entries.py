"""Turns the layers of a sentence into bytes and back."""

import numpy
import torch

from elmo_tasks.common.errors import ConfigurationError

Array = numpy.ndarray

# Maps the dtype of a store to the dtype of the layers that it returns.
RETURNED = {"float16": torch.float16, "float32": torch.float32, "int8": torch.float32}


def encode(layers: torch.Tensor, dtype: str) -> Array:
    """
    Makes an entry, an array of bytes, from layers of shape (num_layers, length, dim) on the CPU.
    The two halves of layer 0 are equal, so an entry has only one half of layer 0. It has the other
    layers whole. For `int8`, each half layer of a token becomes 8-bit integers and a scale in
    float32. The largest integer is 127. All scales come first.

    # Raises

    `ConfigurationError`: A value is too large for the dtype, or not finite.
    """
    rounded = layers.to(RETURNED[dtype]).numpy()
    if not numpy.isfinite(rounded).all():
        raise ConfigurationError(
            f"a layer of the biLM has a value beyond {dtype}, the dtype of its store"
        )
    half = rounded.shape[2] // 2
    # Shape: ((2 * num_layers - 1) * length, dim / 2)
    rows = numpy.concatenate([rounded[0, :, :half], rounded[1:].reshape(-1, half)])
    if dtype != "int8":
        return rows.ravel().view(numpy.uint8)
    scales = numpy.abs(rows).max(axis=1, keepdims=True) / numpy.float32(127)
    integers = numpy.rint(rows / numpy.where(scales, scales, 1)).astype(numpy.int8)
    return numpy.concatenate([scales.ravel().view(numpy.uint8), integers.ravel().view(numpy.uint8)])


def decode(entry: Array, dtype: str, layers: Array) -> None:
    """Writes an entry into layers of shape (num_layers, length, dim)."""
    num_layers, length, dim = layers.shape
    num_rows, half = length * (2 * num_layers - 1), dim // 2
    if dtype == "int8":
        scales = entry[: 4 * num_rows].view(numpy.float32)
        rows = entry[4 * num_rows :].view(numpy.int8).reshape(-1, half) * scales[:, None]
    else:
        rows = entry.view(dtype).reshape(-1, half)
    layers[0, :, :half] = rows[:length]
    layers[0, :, half:] = rows[:length]
    layers[1:] = rows[length:].reshape(-1, length, dim)


def entry_bytes(num_layers: int, length: int, dim: int, dtype: str) -> int:
    """Returns the size of the entry that `encode` makes of layers of this shape."""
    num_rows = length * (2 * num_layers - 1)
    scales = 4 * num_rows if dtype == "int8" else 0
    return num_rows * (dim // 2) * numpy.dtype(dtype).itemsize + scales
