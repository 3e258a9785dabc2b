from array import array
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import HASH_BYTES
from elmo_tasks.elmo.store.database import LayerDatabase
from elmo_tasks.elmo.store.files import databases_in
from elmo_tasks.elmo.store.source_record import SourceRecord

# The number of entries that a merge reads and writes at once.
_GROUP = 200


class Share(NamedTuple):
    """
    Counts the layers that a store holds of one biLM in one dtype.

    # Parameters

    source: The biLM and the dtype.
    num_sentences: The number of sentences whose layers are in the store. A sentence counts once for
        each file that holds it.
    num_bytes: The size of these layers.
    """

    source: SourceRecord
    num_sentences: int
    num_bytes: int


class Contents(NamedTuple):
    """
    Describes what a store holds.

    # Parameters

    shares: The share of each biLM and dtype.
    num_sentences: The number of distinct sentences in all shares together.
    file_bytes: The size of the files.
    """

    shares: list[Share]
    num_sentences: int
    file_bytes: int


def contents(path: str) -> Contents:
    """Describes what the store at a path holds. Entries are counted, but not read."""
    databases = _existing(path)
    records: dict[bytes, SourceRecord] = {}
    num_entries: Counter[bytes] = Counter()
    num_bytes: Counter[bytes] = Counter()
    # Only 8 bytes of each sentence's hash are kept: 80 MB for ten million sentences.
    sentences = array("Q")
    for database in databases:
        sources = []
        for value in database.values():
            source, sentence = _split(value.key)
            if sentence:
                num_entries[source] += 1
                num_bytes[source] += value.num_bytes
                sentences.append(int.from_bytes(sentence[:8], "little"))
            else:
                sources.append(source)
        records |= {record.key(): record for record in _records(database, sources)}
    shares = [Share(record, num_entries[key], num_bytes[key]) for key, record in records.items()]
    num_sentences = len(numpy.unique(numpy.frombuffer(sentences, numpy.uint64)))
    file_bytes = sum(database.num_file_bytes() for database in databases)
    return Contents(shares, num_sentences, file_bytes)


def merge(path: str, other_path: str) -> int:
    """
    Copies the entries of the store at `other_path`, such as that of another machine, to the file
    `layers.sqlite` of the store at `path`. Skips damaged entries. Returns the number of copied
    entries.
    """
    database, num_merged = LayerDatabase.at(path), 0
    for other in _existing(other_path):
        if other is database:
            continue
        sources = [value.key for value in other.values() if len(value.key) == HASH_BYTES]
        records = _records(other, sources)
        keys = {record.key(): record.shared_in(database).key() for record in records}
        for group in other.groups(_GROUP):
            merged = {}
            for key, value in other.get(dict.fromkeys(group)).items():
                source, sentence = _split(key)
                if sentence and source in keys:
                    merged[keys[source] + sentence] = value.tobytes()
            database.put(merged)
            num_merged += len(merged)
        if not database.takes_values:
            raise ConfigurationError(
                f"the store {path} takes no more layers, for the reason above; make room or allow "
                "writing, and run the same command again"
            )
    return num_merged


def _existing(path: str) -> list[LayerDatabase]:
    databases = databases_in(path)
    if not databases:
        raise ConfigurationError(f"there is no store at {path}")
    return databases


def _records(database: LayerDatabase, keys: Iterable[bytes]) -> list[SourceRecord]:
    kept = database.get(dict.fromkeys(keys))
    return [SourceRecord.from_bytes(record.tobytes()) for record in kept.values()]


def _split(key: bytes) -> tuple[bytes, bytes]:
    """
    Splits a key into the parts of the biLM and of the sentence. In the key of a `SourceRecord` the
    second part is empty.
    """
    return key[:HASH_BYTES], key[HASH_BYTES:]
