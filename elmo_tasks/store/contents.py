import os
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from allennlp.common.util import lazy_groups_of

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import HASH_BYTES
from elmo_tasks.store.database import LayerDatabase
from elmo_tasks.store.layer_source import StoreOwner

# Entries that a merge reads and writes at once.
_GROUP = 200


class Share(NamedTuple):
    """
    What a store holds of one biLM in one dtype.

    # Parameters

    owner : `StoreOwner`
    num_sentences : `int`
    num_bytes : `int`
        Of their layers.
    """

    owner: StoreOwner
    num_sentences: int
    num_bytes: int


class Contents(NamedTuple):
    """
    # Parameters

    shares : `list[Share]`
    num_sentences : `int`
        That differ, whichever biLM read them.
    file_bytes : `int`
        Of the file.
    """

    shares: list[Share]
    num_sentences: int
    file_bytes: int


def contents(path: str) -> Contents:
    """What the store at a path holds; its entries are counted, not read."""
    database = _existing(path)
    num_sentences: Counter[bytes] = Counter()
    num_bytes: Counter[bytes] = Counter()
    sentences = set()
    for value in database.values():
        owner, sentence = _split(value.key)
        if sentence:
            num_sentences[owner] += 1
            num_bytes[owner] += value.num_bytes
            sentences.add(sentence)
    shares = [
        Share(owner, num_sentences[owner.key()], num_bytes[owner.key()])
        for owner in _owners(database)
    ]
    file_bytes = os.path.getsize(os.path.join(path, "data.mdb"))
    return Contents(shares, len(sentences), file_bytes)


def merge(path: str, other_path: str) -> int:
    """
    Adds to the store at `path` what another holds, such as one that another machine filled;
    returns how many entries were sound, and are now there.
    """
    other, database = _existing(other_path), LayerDatabase.at(path)
    keys = {owner.key(): owner.shared_in(database).key() for owner in _owners(other)}
    num_merged = 0
    for group in lazy_groups_of(_entries(other), _GROUP):
        read = other.get(dict.fromkeys(group))
        merged = {}
        for key, value in read.items():
            owner, sentence = _split(key)
            if owner in keys:
                merged[keys[owner] + sentence] = value.tobytes()
        database.put(merged)
        num_merged += len(merged)
    return num_merged


def _existing(path: str) -> LayerDatabase:
    if not os.path.exists(os.path.join(path, "data.mdb")):
        raise ConfigurationError(f"there is no store at {path}")
    return LayerDatabase.at(path)


def _owners(database: LayerDatabase) -> list[StoreOwner]:
    records = [value.key for value in database.values() if len(value.key) == HASH_BYTES]
    kept = database.get(dict.fromkeys(records))
    return [StoreOwner.from_bytes(record.tobytes()) for record in kept.values()]


def _entries(database: LayerDatabase) -> Iterator[bytes]:
    return (value.key for value in database.values() if len(value.key) == 2 * HASH_BYTES)


def _split(key: bytes) -> tuple[bytes, bytes]:
    """Whose layers an entry holds, and of which sentence; none for the record of an owner."""
    return key[:HASH_BYTES], key[HASH_BYTES:]
