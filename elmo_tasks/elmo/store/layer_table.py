"""The statements that read and write the table of a store's file."""

import sqlite3
import zlib
from collections.abc import Collection, Mapping

import numpy

from elmo_tasks.common.hashing import HASH_BYTES
from elmo_tasks.elmo.store.sqlite_file import transaction, used_bytes

_LAST_OF_KEY = "FROM layers WHERE key = ? ORDER BY id DESC LIMIT 1"


def add(
    connection: sqlite3.Connection,
    values: Mapping[bytes, bytes],
    damaged: Collection[bytes],
    max_bytes: float | None,
) -> None:
    """
    Adds values by key in one transaction.

    # Parameters

    connection: A file that can be written.
    values: The values. A value that another process has just added is left out.
    damaged: The keys whose value in the file is damaged. SQLite may be unable to delete a damaged
        value, so the new value is added beside it.
    max_bytes: Beyond this size of the file, the entries that came first are deleted.
    """
    with transaction(connection, "IMMEDIATE"):
        for key, value in values.items():
            if key in damaged or num_bytes(connection, key, len(value)) is None:
                connection.execute(
                    "INSERT INTO layers (key, num_bytes, checksum, value) VALUES (?, ?, ?, ?)",
                    (key, len(value), _checksum(key, value), value),
                )
        while max_bytes is not None and used_bytes(connection) > max_bytes:
            if not _delete_oldest(connection, len(values)):
                break


def _delete_oldest(connection: sqlite3.Connection, num_entries: int) -> int:
    """Deletes the entries that came first, but no `SourceRecord`. Returns how many it deleted."""
    return connection.execute(
        "DELETE FROM layers WHERE id IN"
        " (SELECT id FROM layers WHERE length(key) > ? ORDER BY id LIMIT ?)",
        (HASH_BYTES, num_entries),
    ).rowcount


def num_bytes(connection: sqlite3.Connection, key: bytes, size: int | None) -> int | None:
    """Returns the size of a value, or `None` if the value is missing or has another size."""
    row = connection.execute(f"SELECT num_bytes {_LAST_OF_KEY}", (key,)).fetchone()
    return None if row is None or size not in (None, row[0]) else row[0]


def sound_value(
    connection: sqlite3.Connection, key: bytes, size: int | None
) -> numpy.ndarray | None:
    """Returns a value, or `None` if it is missing, is damaged, or has another size."""
    row = connection.execute(f"SELECT value, checksum {_LAST_OF_KEY}", (key,)).fetchone()
    if row is None or not isinstance(row[0], bytes) or size not in (None, len(row[0])):
        return None
    return numpy.frombuffer(row[0], numpy.uint8) if row[1] == _checksum(key, row[0]) else None


def _checksum(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))
