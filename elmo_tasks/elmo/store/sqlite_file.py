import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

from elmo_tasks.common.errors import ConfigurationError

# The id of our files, which `PRAGMA application_id` writes into their header.
_APPLICATION = int.from_bytes(b"ELMo", "big")

# To list entries or to find one, SQLite needs only the columns of the index, and reads no values.
# The ids are in the order in which the entries came.
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


def connect(file: str, writable: bool) -> sqlite3.Connection:
    """
    Opens a file, and makes it if it is missing and may be written.

    # Raises

    `sqlite3.Error`: The file cannot be opened (`sqlite3.OperationalError`), or it is damaged.
    `ConfigurationError`: The file is a database of another program.
    """
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
                    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                    for statement in _TABLES:
                        connection.execute(statement)
        _check_program(connection, file)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    """Runs a `with` block in one SQLite transaction of the given kind, such as `IMMEDIATE`."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        # SQLite has ended the transaction already after some errors, such as a full disk.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Lets a `with` block read one state of the file, whatever others write."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        # A commit would raise the error of a damaged page once more.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def used_bytes(connection: sqlite3.Connection) -> int:
    """Returns the size of the file's pages that are in use."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def file_identity(file: str) -> tuple[int, ...]:
    """Returns the device and inode of the file at a path, or an empty tuple without a file."""
    try:
        status = os.stat(file)
    except OSError:
        return ()
    return status.st_dev, status.st_ino


def _statements(connection: sqlite3.Connection) -> Sequence[str]:
    return [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]


def _check_program(connection: sqlite3.Connection, file: str) -> None:
    is_ours = connection.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION
    statements = tuple(_statements(connection))
    if is_ours and statements == _TABLES:
        return
    if is_ours or statements in ((), _TABLES):
        raise sqlite3.DatabaseError("its header or its tables are not those of a store")
    raise ConfigurationError(
        f"{file} is a file of another program; give the store a folder of its own"
    )
