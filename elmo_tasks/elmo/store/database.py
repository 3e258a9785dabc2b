import logging
import os
import shutil
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy

from elmo_tasks.elmo.store.forks import close_before_forks
from elmo_tasks.elmo.store.layer_table import add, num_bytes, sound_value
from elmo_tasks.elmo.store.sqlite_file import connect, file_identity, snapshot

logger = logging.getLogger(__name__)

SUFFIX = ".sqlite"

# The default name of a store's file, without `SUFFIX`.
MAIN = "layers"

# The number of entries that are listed in one transaction.
_PAGE = 10_000


class Value(NamedTuple):
    """
    Describes a value without reading it.

    # Parameters

    key: The key of the value.
    num_bytes: The size of the value.
    """

    key: bytes
    num_bytes: int


class LayerDatabase:
    """
    Keeps values by key in an SQLite file that the processes of one machine share: any number may
    read, and one at a time writes. A value stays once its transaction has ended, even if its writer
    is killed afterwards. Opening checks only the header. Each value has a checksum, and a damaged
    value counts as missing. Errors of file and disk are logged once, not raised; the database then
    returns no values and accepts none.

    # Parameters

    path: A folder, which is made and opened at the first use.
    name (default `'layers'`): The name of the file in the folder, without its suffix `.sqlite`.
    """

    def __init__(self, path: str, name: str = MAIN) -> None:
        self.path = path
        self.file = os.path.join(path, name + SUFFIX)
        self.lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, ...] | None = None
        self._takes_values = True
        self._warned_of_damage = False
        close_before_forks(self)

    @classmethod
    def at(cls, path: str, name: str = MAIN) -> "LayerDatabase":
        """Returns the one database that this process has for a path."""
        path = os.path.realpath(os.path.expanduser(path))
        file = os.path.join(path, name + SUFFIX)
        database = _DATABASES.get(file)
        if database is None:
            database = _DATABASES[file] = cls(path, name)
        return database

    def get(self, sizes: Mapping[bytes, int | None]) -> dict[bytes, numpy.ndarray]:
        """
        Returns the values that exist, by key, as arrays of bytes. `sizes` maps each key to the
        number of bytes that its value must have, or to `None` if the number is not known.
        """
        return self._read(sizes, sound_value)

    def has(self, sizes: Mapping[bytes, int | None]) -> set[bytes]:
        """
        Returns the keys whose value has the given size. A damaged value counts, because values are
        not read.
        """
        return set(self._read(sizes, num_bytes))

    def put(self, values: Mapping[bytes, bytes], max_bytes: float | None = None) -> None:
        """
        Adds values in one transaction. Keeps a value that is already there and undamaged. If
        `max_bytes` is given and the entries take more, deletes the entries that came first.
        """
        with self.lock:
            connection = self.opened()
            if connection is None or not self._takes_values:
                return
            sizes = {key: len(value) for key, value in values.items()}
            sound = self.get(sizes)
            new = {key: value for key, value in values.items() if key not in sound}
            if not new:
                return
            try:
                add(connection, new, self.has(dict.fromkeys(new)), max_bytes)
            except (sqlite3.Error, MemoryError) as error:
                self._takes_values = False
                logger.warning(
                    "The store %s takes no more layers (%s; %.1f MB are free on its disk); layers "
                    "that it lacks are computed each time they are needed.",
                    self.path,
                    error,
                    shutil.disk_usage(self.path).free / 1e6,
                )

    @property
    def takes_values(self) -> bool:
        """Whether the file can be written to; `False` after an error until it is opened again."""
        with self.lock:
            return self.opened() is not None and self._takes_values

    def values(self) -> Iterator[Value]:
        """Yields the key and size of every value, in the order of the keys."""
        last = b""
        while page := self._query(
            f"SELECT key, num_bytes FROM layers WHERE key > ? ORDER BY key LIMIT {_PAGE}", last
        ):
            yield from (Value(key, num_bytes) for key, num_bytes in page)
            last = page[-1][0]

    def groups(self, size: int) -> Iterator[list[bytes]]:
        """Yields the keys of all values in lists of at most `size`, the oldest values first."""
        first, last = (self._query("SELECT min(id), max(id) FROM layers") or [(None, None)])[0]
        if first is None:
            return
        for start in range(first, last + 1, size):
            rows = self._query(
                "SELECT key FROM layers WHERE id >= ? AND id < ?", start, start + size
            )
            yield [key for (key,) in rows]

    def num_file_bytes(self) -> int:
        """Returns the size of the file."""
        return os.path.getsize(self.file)

    def opened(self) -> sqlite3.Connection | None:
        """
        Returns the connection to the file that is now at the path, or `None` after an error. If the
        file was replaced, opens the new file first.
        """
        with self.lock:
            if file_identity(self.file) != self._identity:
                self.close()
                self._takes_values, self._warned_of_damage = True, False
                self._connection = self._open()
                self._identity = file_identity(self.file)
            return self._connection

    def close(self) -> None:
        with self.lock:
            if self._connection is not None:
                self._connection.close()
            self._connection, self._identity = None, None

    def _read(
        self, sizes: Mapping[bytes, int | None], read: Callable[..., Any]
    ) -> dict[bytes, Any]:
        found = {}
        with self.lock:
            connection = self.opened()
            if connection is None or not sizes:
                return {}
            try:
                with snapshot(connection):
                    for key, size in sizes.items():
                        try:
                            value = read(connection, key, size)
                        except sqlite3.OperationalError:
                            raise
                        except sqlite3.DatabaseError as error:
                            self._warn_of_damage(error)
                        else:
                            if value is not None:
                                found[key] = value
            except sqlite3.Error as error:
                self._give_up("cannot be read", error)
                return {}
        return found

    def _warn_of_damage(self, error: sqlite3.DatabaseError) -> None:
        if not self._warned_of_damage:
            self._warned_of_damage = True
            logger.warning(
                "A part of the store %s is damaged (%s); its layers are computed each time they "
                "are needed. `elmo-tasks store --path NEW --merge %s` saves the rest.",
                self.path,
                error,
                self.path,
            )

    def _query(self, statement: str, *parameters: Any) -> list[Any]:
        with self.lock:
            connection = self.opened()
            if connection is None:
                return []
            try:
                return connection.execute(statement, parameters).fetchall()
            except sqlite3.OperationalError as error:
                self._give_up("cannot be read", error)
            except sqlite3.DatabaseError as error:
                self._warn_of_damage(error)
            return []

    def _open(self) -> sqlite3.Connection | None:
        try:
            os.makedirs(self.path, exist_ok=True)
            exists = os.path.exists(self.file)
            self._takes_values = os.access(self.path, os.W_OK) and (
                not exists or os.access(self.file, os.W_OK)
            )
            if not self._takes_values:
                logger.warning("The store %s can only be read; it takes no more layers.", self.path)
            return connect(self.file, self._takes_values) if exists or self._takes_values else None
        except OSError as error:
            self._give_up("cannot be opened", error.strerror)
        except sqlite3.OperationalError as error:
            self._give_up("cannot be opened", error)
        except sqlite3.DatabaseError as error:
            self._give_up("is damaged; delete it, and it is made anew", error)
        return None

    def _give_up(self, what: str, why: Any) -> None:
        logger.warning(
            "The store %s %s (%s); layers are computed and kept in memory only.",
            self.path,
            what,
            why,
        )
        if self._connection is not None:
            self._connection.close()
        self._connection = None


_DATABASES: "weakref.WeakValueDictionary[str, LayerDatabase]" = weakref.WeakValueDictionary()
