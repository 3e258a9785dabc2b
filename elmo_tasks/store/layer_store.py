import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.store.database import LayerDatabase
from elmo_tasks.store.layer_source import LayerSource
from elmo_tasks.store.recent_layers import RecentLayers
from elmo_tasks.store.source_record import SourceRecord

logger = logging.getLogger(__name__)

DTYPES = ("float16", "float32")

Array = numpy.ndarray


class LayerStore:
    """
    Keeps the layers that a frozen biLM computes for each sentence (Peters et al. 2018, section 3.2:
    they are computed once and then fixed), in memory and in a folder that the processes of a
    machine and all later trainings share. The store fills itself as sentences come.

    The key of an entry is a hash of the sentence's char ids, the biLM's weights and options, its
    start state and the store's `dtype`, so several biLMs may share a folder. The layers of a
    sentence are computed if its entry is missing or damaged.

    # Parameters

    path : `str`, optional
        A folder on a disk of this machine, which is made if it is missing. By default layers are
        kept in memory only. A model that is loaded from an archive does not open the folder of its
        training (see `is_closed_by`).
    dtype : `str`, optional (default = `'float16'`)
        The dtype of the layers that are kept, `float16` or `float32`. Layers that were just
        computed are rounded to it as well, so that a sentence has the same layers in every epoch.
    memory : `float`, optional (default = `1000`)
        The most megabytes (10^6 bytes) of recently used layers that each process keeps in memory.
    """

    def __init__(self, path: str = None, dtype: str = "float16", memory: float = 1000) -> None:
        if dtype not in DTYPES:
            raise ConfigurationError(
                f"the dtype of a store must be {' or '.join(DTYPES)}, not {dtype!r}"
            )
        if not memory >= 0:
            raise ConfigurationError(
                f"the memory of a store must be 0 or more megabytes, not {memory!r}"
            )
        if path is not None and os.path.exists(path) and not os.path.isdir(path):
            raise ConfigurationError(f"the path of a store must be a folder, but {path} is a file")
        self.path = path
        self.dtype = dtype
        self.memory = memory
        self._recent = RecentLayers(int(memory * 1e6))
        # Maps the key of a source's record to that of the record whose entries the source shares.
        self._prefixes: dict[bytes, bytes] = {}
        self._database = None if path is None else LayerDatabase.at(path)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy, in this process or another, opens the folder itself.
        return LayerStore, (self.path, self.dtype, self.memory)

    def is_closed_by(self, serialization_dir: str | os.PathLike) -> bool:
        """
        Returns whether the archive that was unpacked in this folder was trained with a store at
        this path. Such a store is not opened. A store at another path can only come from
        `--overrides`, and is opened.
        """
        config = Path(serialization_dir) / "config.json"
        if not config.exists():
            return False
        closed = self.path in _store_paths(json.loads(config.read_text(encoding="utf-8")))
        if closed:
            logger.info("The store %s of the model's training stays closed.", self.path or "")
        return closed

    def layers(
        self,
        source: LayerSource,
        char_ids: torch.Tensor,
        compute: Callable[[torch.Tensor], torch.Tensor],
    ) -> torch.Tensor:
        """
        Returns the layers of a batch, and computes those that the store lacks.

        # Parameters

        source : `LayerSource`
            The biLM that computes the layers.
        char_ids : `torch.LongTensor`
            Shape (batch, length, 50).
        compute : `Callable`
            Computes the layers of char ids; it is called with the sentences that the store lacks.

        # Returns

        `torch.Tensor`
            Shape (batch, num_layers, length, dim), in the store's dtype, on the CPU.
        """
        sentences = _sentences(char_ids)
        keys = self._keys(source, sentences)
        lengths = dict(zip(keys, map(len, sentences)))
        found = self._find(
            {key: source.entry_bytes(n, self.dtype) for key, n in lengths.items() if n}
        )
        # The first row of each sentence that is missing.
        missing = {
            key: row
            for row, key in reversed(list(enumerate(keys)))
            if key not in found and lengths[key]
        }
        if missing:
            found.update(self._compute(list(missing), char_ids[list(missing.values())], compute))
        shape = (len(keys), source.num_layers, char_ids.size(1), source.dim)
        layers = torch.zeros(shape, dtype=getattr(torch, self.dtype))
        for row, key in zip(layers.numpy(), keys):
            if lengths[key]:
                _unpack(found[key], row[:, : lengths[key]])
        return layers

    def lacks(self, source: LayerSource, sentences: list[Array]) -> list[bool]:
        """
        Returns for each sentence, given as char ids of shape (length, 50), whether its layers are
        missing on disk.
        """
        if self._database is None:
            return [True] * len(sentences)
        keys = self._keys(source, sentences)
        sizes = {key: source.entry_bytes(len(ids), self.dtype) for key, ids in zip(keys, sentences)}
        there = self._database.get(sizes)
        return [key not in there for key in keys]

    @property
    def takes_layers(self) -> bool:
        """Whether layers that are computed are kept on disk."""
        return self._database is not None and self._database.takes_values

    def _keys(self, source: LayerSource, sentences: Iterable[Array]) -> list[bytes]:
        record = SourceRecord.of(source, self.dtype)
        known = record.key()
        if known not in self._prefixes:
            shared = record if self._database is None else record.shared_in(self._database)
            self._prefixes[known] = shared.key()
        return [self._prefixes[known] + hash_bytes(ids.tobytes()) for ids in sentences]

    def _find(self, sizes: Mapping[bytes, int]) -> dict[bytes, Array]:
        found = {key: entry for key in sizes if (entry := self._recent.get(key)) is not None}
        if self._database is not None:
            read = self._database.get({k: size for k, size in sizes.items() if k not in found})
            for key, value in read.items():
                found[key] = value.view(self.dtype)
                self._recent.put(key, found[key])
        return found

    def _compute(
        self,
        keys: list[bytes],
        char_ids: torch.Tensor,
        compute: Callable[[torch.Tensor], torch.Tensor],
    ) -> dict[bytes, Array]:
        lengths = [len(ids) for ids in _sentences(char_ids)]
        # Trainings with and without mixed precision may share a store, so autocast is off.
        with torch.autocast(char_ids.device.type, enabled=False):
            layers = compute(char_ids[:, : max(lengths)])
        rounded = layers.to("cpu", getattr(torch, self.dtype))
        if not rounded.isfinite().all():
            raise ConfigurationError(
                f"a layer of the biLM has a value beyond {self.dtype}, the dtype of its store"
            )
        entries = {
            key: _pack(row[:, :length]) for key, row, length in zip(keys, rounded.numpy(), lengths)
        }
        for key, entry in entries.items():
            self._recent.put(key, entry)
        if self._database is not None:
            self._database.put({key: entry.tobytes() for key, entry in entries.items()})
        return entries


def _sentences(char_ids: torch.Tensor) -> list[Array]:
    """Returns the char ids of each sentence without its padding."""
    ids = char_ids.to("cpu", torch.int16).numpy()
    return [row[:length] for row, length in zip(ids, (ids > 0).any(axis=2).sum(axis=1))]


def _pack(layers: Array) -> Array:
    """Makes an entry from layers of shape (num_layers, length, dim), with one half of layer 0."""
    half = layers.shape[2] // 2
    return numpy.concatenate([layers[0, :, :half].ravel(), layers[1:].ravel()])


def _unpack(entry: Array, layers: Array) -> None:
    """Writes an entry into layers of shape (num_layers, length, dim)."""
    _, length, dim = layers.shape
    x = entry[: length * dim // 2].reshape(length, dim // 2)
    layers[0, :, : dim // 2] = x
    layers[0, :, dim // 2 :] = x
    layers[1:] = entry[length * dim // 2 :].reshape(-1, length, dim)


def _store_paths(config: Any) -> Iterator[str | None]:
    """Yields the path of every store in a config."""
    if isinstance(config, dict):
        for key, value in config.items():
            if key == "store" and isinstance(value, dict):
                yield value.get("path")
            yield from _store_paths(value)
    elif isinstance(config, list):
        for value in config:
            yield from _store_paths(value)
