import logging
import os
import shutil
import threading
import weakref
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import lmdb
import numpy

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.store.lmdb_file import (
    allocate_lock_file,
    begin,
    file_identity,
    find_damage,
    grow,
    is_cut_short,
    open_environment,
)

logger = logging.getLogger(__name__)

# Every entry of the file is a checksum of key and value, followed by the value.
_CHECKSUM_BYTES = 4

# The key that marks an LMDB file as a store.
_MARK = b"elmo_tasks layers 1"


class Value(NamedTuple):
    """
    Describes a value without reading it.

    # Parameters

    key : `bytes`
        The key of the value.
    num_bytes : `int`
        The size of the value.
    """

    key: bytes
    num_bytes: int


class LayerDatabase:
    """
    Keeps values by key in an LMDB file that the processes of one machine share: any number of them
    read while one writes. A value stays once its transaction has ended, even if its writer is
    killed afterwards. A value with a wrong checksum counts as missing. File and disk errors are
    logged once, not raised; the database then returns or accepts no more values.

    # Parameters

    path : `str`
        A folder on a disk of this machine, since LMDB's locks do not work over a network. The
        folder is made and opened at the first use.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._environment: lmdb.Environment | None = None
        self._identity: tuple[Any, ...] = ()
        self._takes_values = True

    @classmethod
    def at(cls, path: str) -> "LayerDatabase":
        """Returns this process's only database at a path; LMDB allows one per file and process."""
        path = os.path.realpath(path)
        database = _DATABASES.get(path)
        if database is None:
            database = _DATABASES[path] = cls(path)
        return database

    def get(self, sizes: Mapping[bytes, int | None]) -> dict[bytes, numpy.ndarray]:
        """
        Returns the values of the keys that have one, as arrays of bytes. `sizes` maps each key to
        the number of bytes that its value must have, or to `None` if that is not known.
        """
        with self._lock:
            environment = self._opened()
            if environment is None or not sizes:
                return {}
            try:
                with begin(environment, buffers=True) as transaction:
                    read = {
                        key: _checked(key, transaction.get(key), size)
                        for key, size in sizes.items()
                    }
            except lmdb.Error as error:
                self._give_up("cannot be read", error)
                return {}
        return {key: value for key, value in read.items() if value is not None}

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Adds values in one transaction. A sound value that the database has already is kept."""
        with self._lock:
            environment = self._opened()
            if environment is None or not self._takes_values or not values:
                return
            try:
                _write(environment, values)
            except (lmdb.Error, MemoryError) as error:
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
        with self._lock:
            return self._opened() is not None and self._takes_values

    def values(self) -> Iterator[Value]:
        """Yields the key and size of every value, in the order of the keys."""
        with self._lock:
            environment = self._opened()
            if environment is None:
                return
            try:
                with begin(environment, buffers=True) as transaction:
                    for key, value in transaction.cursor():
                        if key != _MARK:
                            yield Value(bytes(key), len(value) - _CHECKSUM_BYTES)
            except lmdb.Error as error:
                self._give_up("cannot be read", error)

    def close(self) -> None:
        with self._lock:
            if self._environment is not None:
                self._environment.close()
            self._environment, self._identity = None, ()

    def _opened(self) -> lmdb.Environment | None:
        """
        Returns the environment of the file that is at the path now. Opens the file first if another
        file was there before, or if this process is a fork of the one that opened it.
        """
        if (os.getpid(), *file_identity(self.path)) != self._identity:
            self.close()
            self._takes_values = True
            self._environment = self._open()
            self._identity = (os.getpid(), *file_identity(self.path))
        environment = self._environment
        if environment is not None and is_cut_short(environment, self.path):
            self._give_up("cannot be read", "its file was cut short")
        return self._environment

    def _open(self) -> lmdb.Environment | None:
        try:
            allocate_lock_file(self.path)
        except OSError as error:
            self._give_up("cannot be opened", error.strerror)
            return None
        damage = find_damage(self.path)
        if damage is not None:
            self._give_up("is damaged; delete it, and it is made anew", damage)
            return None
        try:
            environment = open_environment(self.path)
        except (lmdb.Error, OSError) as error:
            self._give_up("cannot be opened", error)
            return None
        self._takes_values = not environment.flags()["readonly"]
        if not self._takes_values:
            logger.warning("The store %s can only be read; it takes no more layers.", self.path)
        with begin(environment) as transaction:
            foreign = transaction.stat()["entries"] > 0 and transaction.get(_MARK) is None
        if foreign:
            environment.close()
            raise ConfigurationError(
                f"{self.path} holds an LMDB file of another program; give the store a folder of "
                "its own"
            )
        return environment

    def _give_up(self, what: str, why: Any) -> None:
        logger.warning(
            "The store %s %s (%s); layers are computed and kept in memory only.",
            self.path,
            what,
            why,
        )
        if self._environment is not None:
            self._environment.close()
        self._environment = None


_DATABASES: "weakref.WeakValueDictionary[str, LayerDatabase]" = weakref.WeakValueDictionary()


def _write(environment: lmdb.Environment, values: Mapping[bytes, bytes]) -> None:
    while True:
        try:
            with begin(environment, write=True) as transaction:
                transaction.put(_MARK, b"", overwrite=False)
                for key, value in values.items():
                    checked = _with_checksum(key, value)
                    there = transaction.get(key)
                    if there is None or _checked(key, there, len(value)) is None:
                        transaction.put(key, checked)
            return
        except lmdb.MapFullError:
            grow(environment)


def _with_checksum(key: bytes, value: bytes) -> bytes:
    return zlib.crc32(value, zlib.crc32(key)).to_bytes(_CHECKSUM_BYTES, "little") + value


def _checked(key: bytes, entry: Any, size: int | None) -> numpy.ndarray | None:
    """Returns a copy of the value in an entry; `None` if the entry is missing or damaged."""
    if entry is None or (size is not None and len(entry) != size + _CHECKSUM_BYTES):
        return None
    entry = numpy.frombuffer(entry, numpy.uint8)
    # The copy is checked, since a file that was opened without a lock may change meanwhile.
    value = entry[_CHECKSUM_BYTES:].copy()
    checksum = int.from_bytes(entry[:_CHECKSUM_BYTES].tobytes(), "little")
    return value if zlib.crc32(value, zlib.crc32(key)) == checksum else None
