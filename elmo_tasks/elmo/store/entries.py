"""The entries of a store: their keys, and the layers of a sentence as bytes."""

import numpy
import torch

from elmo_tasks.bilm.layer_source import LayerSource
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tensors import hash_bytes
from elmo_tasks.elmo.store.database import LayerDatabase

Array = numpy.ndarray

# If start states differ by at most this, their layers differ by less than 1e-5.
_SAME_START = 5e-6


def encode(layers: torch.Tensor, dtype: str) -> Array:
    """
    Makes an entry, an array of bytes, from layers of shape (num_layers, length, dim) on the CPU. It
    has only one half of layer 0, because both are equal. Raises `ConfigurationError` if a value is
    too large for the dtype, or not finite.
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
    """Returns the size of an entry."""
    return length * (2 * num_layers - 1) * (dim // 2) * numpy.dtype(dtype).itemsize


def own_key(source: LayerSource, dtype: str) -> bytes:
    """Returns a hash of a biLM, the numbers of its start state, and the dtype of its entries."""
    return hash_bytes(_weights(source, dtype) + source.start.tobytes())


def key_in(database: LayerDatabase, source: LayerSource, dtype: str) -> bytes:
    """
    Returns the bytes with which a database begins the keys of a biLM's entries, and keeps the
    biLM's start state. The last bits of a start state differ between machines: if start states
    differ only by rounding, the key of the first one is used.
    """
    weights = _weights(source, dtype)
    for key in (weights, own_key(source, dtype)):
        kept = database.get({key: None}).get(key)
        if kept is None:
            database.put({key: source.start.tobytes()})
            kept = database.get({key: None}).get(key)
        if kept is not None:
            start = numpy.frombuffer(kept, source.start.dtype)
            if numpy.allclose(start, source.start, rtol=0, atol=_SAME_START):
                return hash_bytes(weights + start.tobytes())
    return own_key(source, dtype)


def _weights(source: LayerSource, dtype: str) -> bytes:
    return hash_bytes(dtype.encode() + source.fingerprint)
