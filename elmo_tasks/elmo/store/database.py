import logging
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

import numpy

logger = logging.getLogger(__name__)

FILE = "layers.sqlite"

# To find an entry, SQLite needs only the columns of the index, and reads no values. The ids are in
# the order in which the entries came.
_TABLES = (
    "CREATE TABLE layers"
    " (id INTEGER PRIMARY KEY, key BLOB, num_bytes INTEGER, checksum INTEGER, value BLOB)",
    "CREATE INDEX layers_by_key ON layers (key, num_bytes)",
)

# Seconds that a process waits for other processes that read or write the file.
_PATIENCE = 60

_SETTINGS = (
    # With these two, a file that was changed to do harm runs no code, and damage is noticed.
    "trusted_schema = OFF",
    "cell_size_check = ON",
    # Nothing is mapped into memory, so a file that is cut short does not end the process.
    "mmap_size = 0",
    # Kilobytes of a process's page cache, enough for the upper pages of the index.
    "cache_size = -16000",
    # The rollback journal, unlike the write-ahead log, needs no memory shared between processes:
    # the journal works in forks, in read-only folders, and on network disks with working locks.
    "journal_mode = TRUNCATE",
    "synchronous = NORMAL",
)

_INSERT = "INSERT INTO layers (key, num_bytes, checksum, value) VALUES (?, ?, ?, ?)"
_LAST_OF_KEY = "FROM layers WHERE key = ? ORDER BY id DESC LIMIT 1"

# A fork must not use or close the SQLite connections of its parent, so it keeps them open here.
_of_parents: list[sqlite3.Connection | None] = []


class LayerDatabase:
    """
    Keeps values by key in an SQLite file. The folder of the file is made at the first use. All
    processes of a machine may read the file, and one at a time writes. A value is safe as soon as
    its transaction has ended, even if the writing process is killed. Each value has a checksum, and
    a damaged value counts as missing. Errors of the file or disk are not raised, but logged once.
    After an error of reading, this object does not use the file any more; after an error of
    writing, it only reads. One thread at a time may use this object.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.expanduser(folder)
        self._file = os.path.join(self.folder, FILE)
        self._connection: sqlite3.Connection | None = None
        # The process that the connection belongs to.
        self._pid: int | None = None
        self._takes_values = True

    def get(self, sizes: Mapping[bytes, int | None]) -> dict[bytes, numpy.ndarray]:
        """
        Returns the values that exist, by key, as arrays of bytes. `sizes` maps each key to the
        number of bytes that its value must have, or to `None` if the number is not known.
        """
        connection = self._open()
        if connection is None or not sizes:
            return {}
        try:
            with transaction(connection, "DEFERRED"):
                values = {key: _value(connection, key, size) for key, size in sizes.items()}
        except sqlite3.Error as error:
            self._give_up(error)
            return {}
        return {key: value for key, value in values.items() if value is not None}

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """
        Adds values in one transaction. If a key already has an undamaged value, that value stays.
        """
        connection = self._open()
        if connection is None or not self._takes_values:
            return
        try:
            with transaction(connection, "IMMEDIATE"):
                for key, value in values.items():
                    # SQLite may be unable to delete a damaged value, so the new one is added
                    # beside it.
                    if _value(connection, key, len(value)) is None:
                        connection.execute(_INSERT, (key, len(value), _checksum(key, value), value))
                connection.execute("COMMIT")
        except (sqlite3.Error, MemoryError) as error:
            self._takes_values = False
            logger.warning(
                "The store %s takes no more layers (%s); layers that it lacks are computed each "
                "time they are needed.",
                self.folder,
                error,
            )

    def _open(self) -> sqlite3.Connection | None:
        """
        Returns the connection to the file, or `None` after an error. The connection is made at the
        first use, and again in a forked process.
        """
        if self._pid == os.getpid():
            return self._connection
        _of_parents.append(self._connection)
        self._pid = os.getpid()
        self._connection, self._takes_values = None, True
        try:
            os.makedirs(self.folder, exist_ok=True)
            exists = os.path.exists(self._file)
            self._takes_values = os.access(self.folder, os.W_OK) and (
                not exists or os.access(self._file, os.W_OK)
            )
            if not self._takes_values:
                logger.warning(
                    "The store %s can only be read; it takes no more layers.", self.folder
                )
            if exists or self._takes_values:
                self._connection = connect(self._file, self._takes_values)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
        return self._connection

    def _give_up(self, error: OSError | sqlite3.Error) -> None:
        problem = "cannot be read"
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        ):
            problem = "is damaged; delete it, and it is made anew"
        logger.warning(
            "The store %s %s (%s); layers are computed and kept in memory only.",
            self.folder,
            problem,
            error,
        )
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _value(connection: sqlite3.Connection, key: bytes, size: int | None) -> numpy.ndarray | None:
    row = connection.execute(f"SELECT value, checksum {_LAST_OF_KEY}", (key,)).fetchone()
    if row is None or not isinstance(row[0], bytes) or size not in (None, len(row[0])):
        return None
    return numpy.frombuffer(row[0], numpy.uint8) if row[1] == _checksum(key, row[0]) else None


def _checksum(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    """
    Runs a block in one transaction of SQLite. Changes that the block does not commit are undone.
    """
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    finally:
        # SQLite has ended the transaction already after some errors, such as a full disk.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def connect(file: str, writable: bool) -> sqlite3.Connection:
    """Opens an SQLite file. A missing file is made if it may be written."""
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(file))}?mode={'rwc' if writable else 'ro'}",
        uri=True,
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        if writable and not _statements(connection):
            with transaction(connection, "IMMEDIATE"):
                # Another process may have made the tables meanwhile.
                if not _statements(connection):
                    for statement in _TABLES:
                        connection.execute(statement)
                connection.execute("COMMIT")
        if _statements(connection) != _TABLES:
            raise sqlite3.DatabaseError("its tables are not those of a store")
    except BaseException:
        connection.close()
        raise
    return connection


def _statements(connection: sqlite3.Connection) -> tuple[str, ...]:
    rows = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")
    return tuple(statement for (statement,) in rows)
