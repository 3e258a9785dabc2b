import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

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


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    """Runs a block in one transaction of SQLite. What the block does not commit is undone."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    finally:
        # SQLite has ended the transaction already after some errors, such as a full disk.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def connect(file: str, writable: bool) -> sqlite3.Connection:
    """Opens a file, and makes it if it is missing and may be written."""
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
