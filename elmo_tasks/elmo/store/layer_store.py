import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch

from elmo_tasks.bilm.frozen_bilm import LayerSource
from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.common.tensors import hash_bytes
from elmo_tasks.elmo.store.database import LayerDatabase

STORED_DTYPES = ("float16", "float32")

# If start states differ by at most this, their layers differ by less than 1e-5.
_SAME_START = 5e-6

Array = numpy.ndarray


class LayerStore:
    """
    Keeps the layers that a frozen biLM has computed, so that each sentence is read only once
    (Peters et al. 2018, section 3.2). The layers are kept in memory, and in a file that all
    processes of a machine and all later training runs share. Every new sentence is added.

    The key of an entry is a hash of the sentence's char ids, the biLM's weights and options, its
    start state and the store's `dtype`, so several biLMs may share a folder. The layers of a
    sentence are computed if its entry is missing or damaged.

    # Parameters

    path: The folder of the file `layers.sqlite`; both are made if they are missing. By default
        layers are kept in memory only.
    dtype: The dtype of the layers: `float16` or `float32`. Newly computed layers are also rounded
        to this dtype, so a sentence has the same layers in every epoch.
    memory: The most megabytes (10^6 bytes) of recently used layers that each
        process keeps in memory.
    """

    def __init__(self, path: str = None, dtype: str = "float16", memory: float = 1000) -> None:
        check_choice("dtype of a store", dtype, STORED_DTYPES)
        if not memory >= 0:
            raise ConfigurationError(
                f"the memory of a store must be 0 or more megabytes, not {memory!r}"
            )
        folder = os.path.expanduser(path or "")
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise ConfigurationError(f"the path of a store must be a folder, but {path} is a file")
        self.path = path
        self.dtype = dtype
        self.memory = memory
        self._database = None if path is None else LayerDatabase(path)
        # For the own key of each biLM, the bytes with which the keys of its entries begin.
        self._begins: dict[bytes, bytes] = {}
        # The least recently used entries come first.
        self._recent: OrderedDict[bytes, Array] = OrderedDict()
        self._num_bytes = 0
        self._lock = threading.RLock()
        self._pid = os.getpid()

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy of the store, in this process or another, opens the folder itself.
        return LayerStore, (self.path, self.dtype, self.memory)

    def layers(
        self,
        source: LayerSource,
        char_ids: torch.Tensor,
        compute: Callable[[torch.Tensor], torch.Tensor],
    ) -> torch.Tensor:
        """
        Returns the layers of a batch of char ids, shape (batch, length, 50). `compute` computes the
        layers that the store lacks. The layers have the shape (batch, num_layers, length, dim) and
        the store's dtype, and are on the CPU.
        """
        begin = self._begin(source)
        sentences = _sentences(char_ids)
        keys = [begin + hash_bytes(ids.tobytes()) for ids in sentences]
        lengths = dict(zip(keys, map(len, sentences)))
        entries = self._find(
            {
                key: entry_bytes(source.num_layers, length, source.dim, self.dtype)
                for key, length in lengths.items()
                if length
            }
        )
        # For each missing sentence, the first row that has it.
        rows = {
            key: row
            for row, key in reversed(list(enumerate(keys)))
            if key not in entries and lengths[key]
        }
        if rows:
            missing = char_ids[list(rows.values())]
            entries.update(self._compute(list(rows), missing, compute))
        shape = (len(keys), source.num_layers, char_ids.size(1), source.dim)
        layers = torch.zeros(shape, dtype=getattr(torch, self.dtype))
        for row, key in zip(layers.numpy(), keys):
            if lengths[key]:
                decode(entries[key], self.dtype, row[:, : lengths[key]])
        return layers

    def _lock_of_process(self) -> threading.RLock:
        """Returns the lock of this process. A forked process gets a new lock."""
        if self._pid != os.getpid():
            self._pid, self._lock = os.getpid(), threading.RLock()
        return self._lock

    def _begin(self, source: LayerSource) -> bytes:
        key = own_key(source, self.dtype)
        with self._lock_of_process():
            if key not in self._begins:
                database = self._database
                self._begins[key] = key_in(database, source, self.dtype) if database else key
            return self._begins[key]

    def _find(self, sizes: Mapping[bytes, int]) -> dict[bytes, Array]:
        with self._lock_of_process():
            entries = {key: self._recent[key] for key in sizes if key in self._recent}
            for key in entries:
                self._recent.move_to_end(key)
            further = {key: size for key, size in sizes.items() if key not in entries}
            if self._database is not None and further:
                stored_entries = self._database.get(further)
                self._remember(stored_entries)
                entries.update(stored_entries)
        return entries

    def _compute(
        self,
        keys: list[bytes],
        char_ids: torch.Tensor,
        compute: Callable[[torch.Tensor], torch.Tensor],
    ) -> dict[bytes, Array]:
        lengths = [len(ids) for ids in _sentences(char_ids)]
        # Training runs with and without mixed precision may share a store, so autocast is off.
        with torch.autocast(char_ids.device.type, enabled=False):
            layers = compute(char_ids[:, : max(lengths)]).cpu()
        entries = {
            key: encode(row[:, :length], self.dtype)
            for key, row, length in zip(keys, layers, lengths)
        }
        with self._lock_of_process():
            self._remember(entries)
            if self._database is not None:
                self._database.put({key: entry.tobytes() for key, entry in entries.items()})
        return entries

    def _remember(self, entries: Mapping[bytes, Array]) -> None:
        most = self.memory * 1e6
        for key, entry in entries.items():
            if key in self._recent or entry.nbytes > most:
                continue
            self._recent[key] = entry
            self._num_bytes += entry.nbytes
            while self._num_bytes > most:
                self._num_bytes -= self._recent.popitem(last=False)[1].nbytes


def _sentences(char_ids: torch.Tensor) -> list[Array]:
    """Returns the char ids of each sentence without its padding."""
    ids = char_ids.to("cpu", torch.int16).numpy()
    return [row[:length] for row, length in zip(ids, (ids > 0).any(axis=2).sum(axis=1))]


def encode(layers: torch.Tensor, dtype: str) -> Array:
    """
    Makes an entry, an array of bytes, from layers of shape (num_layers, length, dim) on the CPU.
    The halves of layer 0 are equal, so the entry has only one. Raises `ConfigurationError` if a
    value is too large for the dtype, or not finite.
    """
    array = layers.to(getattr(torch, dtype)).numpy()
    if not numpy.isfinite(array).all():
        raise ConfigurationError(
            f"a layer of the biLM has a value that is too large for {dtype}, the dtype of its store"
        )
    half = array.shape[2] // 2
    # Shape: ((2 * num_layers - 1) * length, dim / 2)
    rows = numpy.concatenate([array[0, :, :half], array[1:].reshape(-1, half)])
    return rows.ravel().view(numpy.uint8)


def decode(entry: Array, dtype: str, layers: Array) -> None:
    """Writes an entry into layers of shape (num_layers, length, dim)."""
    _, length, dim = layers.shape
    rows = entry.view(dtype).reshape(-1, dim // 2)
    layers[0, :, : dim // 2] = rows[:length]
    layers[0, :, dim // 2 :] = rows[:length]
    layers[1:] = rows[length:].reshape(-1, length, dim)


def entry_bytes(num_layers: int, length: int, dim: int, dtype: str) -> int:
    return length * (2 * num_layers - 1) * (dim // 2) * numpy.dtype(dtype).itemsize


def own_key(source: LayerSource, dtype: str) -> bytes:
    """Returns a hash of a biLM, the numbers of its start state, and the dtype of its entries."""
    return hash_bytes(_weights(source, dtype) + source.start.tobytes())


def key_in(database: LayerDatabase, source: LayerSource, dtype: str) -> bytes:
    """
    Returns the bytes with which the keys of a biLM's entries begin in a database. The bytes stand
    for the biLM and its start state. Two machines compute start states with other last bits. So the
    database keeps the first start state, and a state that differs only by rounding gets the same
    bytes.
    """
    weights = _weights(source, dtype)
    for key in (weights, own_key(source, dtype)):
        content = database.get({key: None}).get(key)
        if content is None:
            database.put({key: source.start.tobytes()})
            content = database.get({key: None}).get(key)
        if content is not None:
            start = numpy.frombuffer(content, source.start.dtype)
            if numpy.allclose(start, source.start, rtol=0, atol=_SAME_START):
                return hash_bytes(weights + start.tobytes())
    return own_key(source, dtype)


def _weights(source: LayerSource, dtype: str) -> bytes:
    return hash_bytes(dtype.encode() + source.fingerprint)
