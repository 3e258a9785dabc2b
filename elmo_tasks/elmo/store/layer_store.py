import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
import torch

from elmo_tasks.bilm.layer_source import LayerSource
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.elmo.store.database import MAIN
from elmo_tasks.elmo.store.entries import RETURNED, decode, encode, entry_bytes
from elmo_tasks.elmo.store.folder import StoreFolder
from elmo_tasks.elmo.store.recent_layers import RecentLayers
from elmo_tasks.elmo.store.source_record import SourceRecord

logger = logging.getLogger(__name__)

STORED_DTYPES = ("float16", "float32", "int8")

Array = numpy.ndarray


class LayerStore:
    """
    Keeps the layers that a frozen biLM computes for each sentence (Peters et al. 2018, section 3.2:
    they are computed once and then fixed). They are kept in memory, and in a folder that the
    processes of a machine and all later trainings share. The store fills itself as sentences come.

    The key of an entry is a hash of the sentence's char ids, the biLM's weights and options, its
    start state and the store's `dtype`, so several biLMs may share a folder. The layers of a
    sentence are computed if its entry is missing or damaged.

    The store reads all files of the folder and writes one of them. So several machines can each
    fill their own file, in a shared folder or in folders that are later copied into one folder.

    # Parameters

    path: The folder, which is made if it is missing. By default layers are kept in memory only. A
        model that is loaded from an archive does not open the folder of its training (see
        `is_closed_by`).
    dtype (default `'float16'`): The dtype of the layers that are kept: `float16`, `float32`, or
        `int8`, which takes half the space of `float16` and rounds the layers of `base` by 0.80 %
        (root mean square). Newly computed layers are rounded too, so a sentence has the same layers
        in every epoch.
    memory (default `1000`): The most megabytes (10^6 bytes) of recently used layers that each
        process keeps in memory.
    disk (default no limit): The most megabytes of layers in the file that is written. In a full
        file, new entries replace the oldest. The other files of the folder are not counted.
    file (default `'layers'`): The name of the file that is written, without its suffix `.sqlite`.
    """

    def __init__(
        self,
        path: str = None,
        dtype: str = "float16",
        memory: float = 1000,
        disk: float = None,
        file: str = MAIN,
    ) -> None:
        if dtype not in STORED_DTYPES:
            raise ConfigurationError(
                f"the dtype of a store must be {', '.join(STORED_DTYPES[:-1])} or "
                f"{STORED_DTYPES[-1]}, not {dtype!r}"
            )
        if not memory >= 0:
            raise ConfigurationError(
                f"the memory of a store must be 0 or more megabytes, not {memory!r}"
            )
        if disk is not None and not disk > 0:
            raise ConfigurationError(
                f"the disk of a store must be more than 0 megabytes, not {disk!r}"
            )
        folder = os.path.expanduser(path or "")
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise ConfigurationError(f"the path of a store must be a folder, but {path} is a file")
        if not file or os.path.basename(file) != file:
            raise ConfigurationError(
                f"the file of a store must be a name, without a folder, not {file!r}"
            )
        self.path = path
        self.dtype = dtype
        self.memory = memory
        self.disk = disk
        self.file = file
        self._recent = RecentLayers(memory * 1e6)
        max_bytes = None if disk is None else disk * 1e6
        self._folder = None if path is None else StoreFolder(path, file, max_bytes)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy of the store, in this process or another, opens the folder itself.
        return LayerStore, (self.path, self.dtype, self.memory, self.disk, self.file)

    def is_closed_by(self, serialization_dir: str | os.PathLike) -> bool:
        """
        Returns whether this store must stay closed. It must if its path is in the config of a model
        that was unpacked into `serialization_dir`: the path is then that of the model's training.
        Any other path comes from `--overrides`.
        """
        config = Path(serialization_dir) / "config.json"
        if not config.exists():
            return False
        closed = self.path in _store_paths(json.loads(config.read_text(encoding="utf-8")))
        if closed and self.path is not None:
            logger.info("The store %s of the model's training stays closed.", self.path)
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

        source: The biLM that computes the layers.
        char_ids (`torch.LongTensor`): Shape (batch, length, 50).
        compute: Computes the layers of char ids, for the sentences that the store lacks.

        # Returns

        Shape (batch, num_layers, length, dim), on the CPU, in the store's dtype, or in float32 for
        `int8`.
        """
        record = SourceRecord.of(source, self.dtype)
        sentences = _sentences(char_ids)
        keys = _keys(sentences)
        lengths = dict(zip(keys, map(len, sentences)))
        found = self._find(record, self._sizes(source, {k: n for k, n in lengths.items() if n}))
        # For each missing sentence, the first row that has it.
        missing = {
            key: row
            for row, key in reversed(list(enumerate(keys)))
            if key not in found and lengths[key]
        }
        if missing:
            some = char_ids[list(missing.values())]
            found.update(self._compute(record, list(missing), some, compute))
        shape = (len(keys), source.num_layers, char_ids.size(1), source.dim)
        layers = torch.zeros(shape, dtype=RETURNED[self.dtype])
        for row, key in zip(layers.numpy(), keys):
            if lengths[key]:
                decode(found[key], self.dtype, row[:, : lengths[key]])
        return layers

    def lacks(self, source: LayerSource, sentences: list[Array]) -> list[bool]:
        """
        Returns for each sentence, given as char ids of shape (length, 50), whether the disk lacks
        its layers. A damaged entry does not count as missing: it is computed again when it is read.
        """
        if self._folder is None:
            return [True] * len(sentences)
        keys = _keys(sentences)
        sizes = self._sizes(source, {key: len(ids) for key, ids in zip(keys, sentences)})
        there = self._folder.has(SourceRecord.of(source, self.dtype), sizes)
        return [key not in there for key in keys]

    @property
    def takes_layers(self) -> bool:
        """Whether new layers are kept on disk."""
        return self._folder is not None and self._folder.takes_values

    def _sizes(self, source: LayerSource, lengths: Mapping[bytes, int]) -> dict[bytes, int]:
        return {
            key: entry_bytes(source.num_layers, length, source.dim, self.dtype)
            for key, length in lengths.items()
        }

    def _find(self, record: SourceRecord, sizes: Mapping[bytes, int]) -> dict[bytes, Array]:
        known = record.key()
        found = {
            key: entry for key in sizes if (entry := self._recent.get(known + key)) is not None
        }
        left = {key: size for key, size in sizes.items() if key not in found}
        if self._folder is not None and left:
            read = self._folder.get(record, left)
            self._remember(record, read)
            found.update(read)
        return found

    def _compute(
        self,
        record: SourceRecord,
        keys: list[bytes],
        char_ids: torch.Tensor,
        compute: Callable[[torch.Tensor], torch.Tensor],
    ) -> dict[bytes, Array]:
        lengths = [len(ids) for ids in _sentences(char_ids)]
        # Trainings with and without mixed precision may share a store, so autocast is off.
        with torch.autocast(char_ids.device.type, enabled=False):
            layers = compute(char_ids[:, : max(lengths)]).cpu()
        entries = {
            key: encode(row[:, :length], self.dtype)
            for key, row, length in zip(keys, layers, lengths)
        }
        self._remember(record, entries)
        if self._folder is not None:
            self._folder.put(record, entries)
        return entries

    def _remember(self, record: SourceRecord, entries: Mapping[bytes, Array]) -> None:
        known = record.key()
        for key, entry in entries.items():
            self._recent.put(known + key, entry)


def _sentences(char_ids: torch.Tensor) -> list[Array]:
    """Returns the char ids of each sentence without its padding."""
    ids = char_ids.to("cpu", torch.int16).numpy()
    return [row[:length] for row, length in zip(ids, (ids > 0).any(axis=2).sum(axis=1))]


def _keys(sentences: Iterable[Array]) -> list[bytes]:
    return [hash_bytes(ids.tobytes()) for ids in sentences]


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
