from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

from elmo_tasks.elmo.store.database import LayerDatabase
from elmo_tasks.elmo.store.files import databases_in
from elmo_tasks.elmo.store.source_record import SourceRecord


class StoreFolder:
    """
    Writes entries to one file of a folder, and finds entries in all its files. In a file, an
    entry's key is the key of its `SourceRecord` in that file, and then a hash of the sentence. All
    methods take and return the hash alone.

    # Parameters

    path: The folder.
    file: The name of the file that is written, without its suffix.
    max_bytes (default no limit): Beyond this size of the file, its oldest entries are deleted.
    """

    def __init__(self, path: str, file: str, max_bytes: float | None = None) -> None:
        self.path = path
        self._own = LayerDatabase.at(path, file)
        self._max_bytes = max_bytes
        # The databases are kept here, so that their files stay open.
        self._others: list[LayerDatabase] = []
        # (database, a record's own key) -> (open connection, the record's key in that database).
        # The keys may differ (see `shared_in`), and are asked for again if the connection changes.
        self._keys: dict[tuple[LayerDatabase, bytes], tuple[object, bytes]] = {}

    def get(self, record: SourceRecord, sizes: Mapping[bytes, int]) -> dict[bytes, numpy.ndarray]:
        """Returns entries of a source, as arrays of bytes. `sizes` has their sizes by hash."""
        return self._ask(record, sizes, lambda database, keys: database.get(keys))

    def has(self, record: SourceRecord, sizes: Mapping[bytes, int]) -> set[bytes]:
        """Returns the hashes whose entry has the given size. The entries are not read."""
        found = self._ask(record, sizes, lambda database, keys: dict.fromkeys(database.has(keys)))
        return set(found)

    def put(self, record: SourceRecord, entries: Mapping[bytes, numpy.ndarray]) -> None:
        """Adds entries of a source to the file that is written."""
        _, begin = next(self._files(record))
        self._own.put(
            {begin + key: entry.tobytes() for key, entry in entries.items()}, self._max_bytes
        )

    @property
    def takes_values(self) -> bool:
        """Whether the file can be written to."""
        return self._own.takes_values

    def _ask(
        self,
        record: SourceRecord,
        sizes: Mapping[bytes, int],
        ask: Callable[[LayerDatabase, dict[bytes, int]], Mapping[bytes, Any]],
    ) -> dict[bytes, Any]:
        found: dict[bytes, Any] = {}
        for database, begin in self._files(record):
            keys = {begin + key: size for key, size in sizes.items() if key not in found}
            for key, answer in ask(database, keys).items():
                found[key[len(begin) :]] = answer
            if len(found) == len(sizes):
                break
        return found

    def _files(self, record: SourceRecord) -> Iterator[tuple[LayerDatabase, bytes]]:
        """
        Yields pairs: a database that has entries of a source, and the bytes with which the keys of
        these entries begin. The database that is written to comes first.
        """
        for database in self._databases():
            begin = self._key_in(database, record)
            if begin is not None:
                yield database, begin

    def _databases(self) -> Iterator[LayerDatabase]:
        yield self._own
        self._others = databases_in(self.path, but=self._own)
        yield from self._others

    def _key_in(self, database: LayerDatabase, record: SourceRecord) -> bytes | None:
        """
        Returns the key of a source's record in a database, or `None` if the database lacks the
        record. If the file that is written lacks the record, adds the record to it.
        """
        asked, connection = (database, record.key()), database.opened()
        known = self._keys.get(asked)
        if known is None or known[0] is not connection:
            is_own = database is self._own
            there = record.shared_in(self._own) if is_own else record.found_in(database)
            if there is None:
                return None
            known = self._keys[asked] = connection, there.key()
        return known[1]
