from collections.abc import Iterator, Sequence
from functools import partial

import numpy
import torch
from tqdm import tqdm

from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.common.batches import batches_by_length, groups_of
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import hash_bytes
from elmo_tasks.common.worker_processes import in_processes
from elmo_tasks.elmo.sentence_layers import MIN_SENTENCES
from elmo_tasks.elmo.store.layer_store import LayerStore

# The number of texts that are looked up in the store at once.
_GROUP = 1000


def fill_store(
    bilm: FrozenBiLm,
    texts: Sequence[numpy.ndarray],
    batch_tokens: int = 2048,
    num_processes: int = 1,
) -> int:
    """
    For all texts, computes the layers that the biLM's store lacks on disk. After an interruption,
    only missing layers are computed. Equal texts count once, texts without tokens not at all.

    # Parameters

    bilm: A biLM with a store that has a path.
    texts: The char ids of each text: shape (length, 50).
    batch_tokens (default `2048`): As for `SentenceLayers`.
    num_processes (default `1`): The number of processes (see `in_processes`), which take turns at
        writing. Several need a biLM on a CPU.

    # Returns

    The number of texts that were computed.

    # Raises

    `ConfigurationError`: The store cannot be written to, for example because the disk is full; or a
        process was killed, for example because memory ran out.
    """
    store, device = bilm.store, bilm.like.device
    assert isinstance(store, LayerStore)
    if num_processes > 1 and device.type != "cpu":
        raise ConfigurationError(f"several processes need a biLM on a CPU, but it is on {device}")
    distinct: dict[bytes, int] = {}
    for index in range(len(texts)):
        if len(char_ids := texts[index]):
            distinct.setdefault(hash_bytes(char_ids.tobytes()), index)
    missing: list[int] = []
    for group in groups_of(distinct.values(), _GROUP):
        lacks = store.lacks(bilm.source(), [texts[index] for index in group])
        missing += [index for index, is_missing in zip(group, lacks) if is_missing]
    print(f"{len(distinct):,} sentences, of which {store.path} lacks {len(missing):,}")
    lengths = [len(texts[index]) for index in missing]
    batches = [
        [missing[row] for row in rows]
        for rows in batches_by_length(lengths, batch_tokens, MIN_SENTENCES)
    ]
    compute = partial(_compute, bilm, texts)
    with tqdm(total=sum(lengths), unit=" tokens") as progress:
        # Computing the first batch lays out the weights, so that the processes share them.
        for batch in batches[:1]:
            progress.update(compute(batch))
        done: Iterator[int] = map(compute, batches[1:])
        if num_processes > 1:
            done = in_processes(num_processes, compute, batches[1:])
        for num_tokens in done:
            progress.update(num_tokens)
    return len(missing)


def _compute(bilm: FrozenBiLm, texts: Sequence[numpy.ndarray], batch: list[int]) -> int:
    """Lets a biLM fill its store with a batch of texts. Returns the number of tokens."""
    of_batch = [torch.from_numpy(texts[index].astype(numpy.int64)) for index in batch]
    char_ids = torch.nn.utils.rnn.pad_sequence(of_batch, batch_first=True)
    bilm(char_ids.to(bilm.like.device))
    store = bilm.store
    assert isinstance(store, LayerStore)
    if not store.takes_layers:
        raise ConfigurationError(
            f"the store {store.path} takes no more layers (see the reason above), but keeps what "
            "it has; make room or allow writing, and run the same command again"
        )
    return sum(map(len, of_batch))
