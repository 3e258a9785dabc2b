import os
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from elmo_tasks.common.batches import groups_of
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import HASH_BYTES
from elmo_tasks.store.database import LayerDatabase
from elmo_tasks.store.source_record import SourceRecord

# Entries that a merge reads and writes at once.
_GROUP = 200


class Share(NamedTuple):
    """
    Counts the layers of one biLM in one dtype that a store holds.

    # Parameters

    source : `SourceRecord`
        The biLM and the dtype.
    num_sentences : `int`
        The number of sentences whose layers are in the store.
    num_bytes : `int`
        The size of these layers.
    """

    source: SourceRecord
    num_sentences: int
    num_bytes: int


class Contents(NamedTuple):
    """
    Describes what a store holds.

    # Parameters

    shares : `list[Share]`
        The share of each biLM and dtype.
    num_sentences : `int`
        The number of distinct sentences of all shares together.
    file_bytes : `int`
        The size of the file.
    """

    shares: list[Share]
    num_sentences: int
    file_bytes: int


def contents(path: str) -> Contents:
    """Describes what the store at a path holds. Entries are counted, but not read."""
    database = _existing(path)
    num_sentences: Counter[bytes] = Counter()
    num_bytes: Counter[bytes] = Counter()
    sentences = set()
    for value in database.values():
        source, sentence = _split(value.key)
        if sentence:
            num_sentences[source] += 1
            num_bytes[source] += value.num_bytes
            sentences.add(sentence)
    shares = [
        Share(record, num_sentences[record.key()], num_bytes[record.key()])
        for record in _records(database)
    ]
    file_bytes = os.path.getsize(os.path.join(path, "data.mdb"))
    return Contents(shares, len(sentences), file_bytes)


def merge(path: str, other_path: str) -> int:
    """
    Adds the entries of the store at `other_path`, such as one that another machine filled, to the
    store at `path`. Returns the number of entries of the other store; damaged ones are left out.
    """
    other, database = _existing(other_path), LayerDatabase.at(path)
    keys = {record.key(): record.shared_in(database).key() for record in _records(other)}
    num_merged = 0
    for group in groups_of(_entries(other), _GROUP):
        read = other.get(dict.fromkeys(group))
        merged = {}
        for key, value in read.items():
            source, sentence = _split(key)
            if source in keys:
                merged[keys[source] + sentence] = value.tobytes()
        database.put(merged)
        num_merged += len(merged)
    return num_merged


def _existing(path: str) -> LayerDatabase:
    if not os.path.exists(os.path.join(path, "data.mdb")):
        raise ConfigurationError(f"there is no store at {path}")
    return LayerDatabase.at(path)


def _records(database: LayerDatabase) -> list[SourceRecord]:
    keys = [value.key for value in database.values() if len(value.key) == HASH_BYTES]
    kept = database.get(dict.fromkeys(keys))
    return [SourceRecord.from_bytes(record.tobytes()) for record in kept.values()]


def _entries(database: LayerDatabase) -> Iterator[bytes]:
    return (value.key for value in database.values() if len(value.key) == 2 * HASH_BYTES)


def _split(key: bytes) -> tuple[bytes, bytes]:
    """
    Splits a key into the part of the biLM and the part of the sentence, which is empty in the key
    of a `SourceRecord`.
    """
    return key[:HASH_BYTES], key[HASH_BYTES:]
