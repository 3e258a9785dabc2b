from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy
import torch
from tqdm import tqdm

from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.bilm.layer_source import LayerSource
from elmo_tasks.common.batches import batches_by_length, groups_of
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.common.worker_processes import in_processes
from elmo_tasks.elmo.sentence_layers import MIN_SENTENCES
from elmo_tasks.elmo.store.layer_store import LayerStore

# The number of texts that are looked up in the store at once.
_GROUP = 1000


class _Batch(NamedTuple):
    """The indices of texts that are computed at once, and their number of tokens."""

    ids: list[int]
    num_tokens: int


class _Compute(NamedTuple):
    """Computes a batch of texts with the biLM, which puts the layers into its store."""

    bilm: FrozenBiLm
    texts: Sequence[numpy.ndarray]

    def __call__(self, batch: _Batch) -> None:
        char_ids = _padded([self.texts[index] for index in batch.ids])
        self.bilm(char_ids.to(self.bilm.like.device))
        store = self.bilm.store
        assert isinstance(store, LayerStore)
        if not store.takes_layers:
            raise ConfigurationError(
                f"the store {store.path} takes no more layers (see the reason above), but keeps "
                "what it has; make room or allow writing, and run the same command again"
            )


def fill_store(
    bilm: FrozenBiLm,
    texts: Sequence[numpy.ndarray],
    part: int = 0,
    num_parts: int = 1,
    batch_tokens: int = 2048,
    num_processes: int = 1,
) -> int:
    """
    For all texts, computes the layers that the biLM's store lacks on disk. After an interruption,
    only missing layers are computed. Equal texts count once, texts without tokens not at all.

    # Parameters

    bilm: A biLM with a store that has a path.
    texts: The char ids of each text: shape (length, 50).
    part, num_parts (default `0` and `1`): The texts are divided into `num_parts` parts of about
        equal size, the same on all machines. Only the part number `part`, from 0, is computed.
    batch_tokens (default `2048`): The maximum number of tokens per batch, padding included. A batch
        of at most 16 long texts may have eight times as many.
    num_processes (default `1`): The number of processes. Several processes run one thread each,
        share the weights and the texts, and take turns at writing. The biLM must then be on a CPU.

    # Returns

    The number of texts that were computed.

    # Raises

    `ConfigurationError`: The store cannot be written to, for example because the disk is full; or
        several processes were killed at the same batch, for example because memory ran out.
    """
    store = bilm.store
    assert isinstance(store, LayerStore)
    indices = _distinct(texts, part, num_parts)
    missing = list(_missing(bilm.source(), store, texts, indices))
    print(f"{len(indices):,} sentences, of which {store.path} lacks {len(missing):,}")
    lengths = [len(texts[index]) for index in missing]
    batches = [
        _Batch([missing[row] for row in rows], sum(lengths[row] for row in rows))
        for rows in batches_by_length(lengths, batch_tokens, MIN_SENTENCES)
    ]
    device = bilm.like.device
    if num_processes > 1 and device.type != "cpu":
        raise ConfigurationError(f"several processes need a biLM on a CPU, but it is on {device}")

    compute = _Compute(bilm, texts)
    with tqdm(total=sum(lengths), unit=" tokens") as progress:
        # Computing the first batch lays out the weights, so that the processes share them.
        for batch in batches[:1] if num_processes > 1 else batches:
            compute(batch)
            progress.update(batch.num_tokens)
        if num_processes > 1:
            for _ in in_processes(num_processes)(compute, batches[1:], progress):
                pass
    return len(missing)


def _missing(
    source: LayerSource, store: LayerStore, texts: Sequence[numpy.ndarray], indices: Sequence[int]
) -> Iterator[int]:
    for group in groups_of(indices, _GROUP):
        lacks = store.lacks(source, [texts[index] for index in group])
        yield from (index for index, lacking in zip(group, lacks) if lacking)


def _padded(sentences: list[numpy.ndarray]) -> torch.Tensor:
    """Returns char ids of shape (batch, length, 50)."""
    tensors = [torch.from_numpy(ids.astype(numpy.int64)) for ids in sentences]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)


def _distinct(texts: Sequence[numpy.ndarray], part: int, num_parts: int) -> list[int]:
    """Returns the indices of those distinct texts of a part that have tokens."""
    found: dict[bytes, int] = {}
    for index in range(len(texts)):
        char_ids = texts[index]
        # The hash is the same on every machine.
        key = hash_bytes(char_ids.tobytes())
        if len(char_ids) and int.from_bytes(key, "little") % num_parts == part:
            found.setdefault(key, index)
    return list(found.values())
