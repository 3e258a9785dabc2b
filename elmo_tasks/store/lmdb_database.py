import logging
import mmap
import os
import subprocess
import sys
import threading
import weakref
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import lmdb
import numpy

from elmo_tasks.common.batches import groups_of
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.store.database import Value

logger = logging.getLogger(__name__)

FILE = "data.mdb"

# Every entry of the file is a checksum of key and value, followed by the value.
_CHECKSUM_BYTES = 4

# The key that marks an LMDB file as a store.
_MARK = b"elmo_tasks layers 1"


class LmdbDatabase:
    """
    Reads the file of a store that elmo_tasks made until November 2026, an LMDB file. Has the
    methods of `LayerDatabase` that read.

    # Parameters

    path : `str`
        The folder of the file `data.mdb`.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._environment: lmdb.Environment | None = None
        self._identity: tuple[int, ...] | None = None

    @classmethod
    def at(cls, path: str) -> "LmdbDatabase":
        """Returns this process's only database at a path; LMDB allows one per file and process."""
        path = os.path.realpath(path)
        database = _DATABASES.get(path)
        if database is None:
            database = _DATABASES[path] = cls(path)
        return database

    def get(self, sizes: Mapping[bytes, int | None]) -> dict[bytes, numpy.ndarray]:
        """See `LayerDatabase.get`."""
        with self._lock:
            environment = self.opened()
            if environment is None or not sizes:
                return {}
            with environment.begin(buffers=True) as transaction:
                read = {
                    key: _checked(key, transaction.get(key), size) for key, size in sizes.items()
                }
        return {key: value for key, value in read.items() if value is not None}

    def has(self, sizes: Mapping[bytes, int | None]) -> set[bytes]:
        """See `LayerDatabase.has`; here the values are read."""
        return set(self.get(sizes))

    def values(self) -> Iterator[Value]:
        """Yields the key and size of every value, in the order of the keys."""
        with self._lock:
            environment = self.opened()
            if environment is None:
                return
            with environment.begin(buffers=True) as transaction:
                for key, value in transaction.cursor():
                    if key != _MARK:
                        yield Value(bytes(key), len(value) - _CHECKSUM_BYTES)

    def groups(self, size: int) -> Iterator[list[bytes]]:
        """Yields the keys of all values in lists of at most `size`."""
        return groups_of((value.key for value in self.values()), size)

    def num_file_bytes(self) -> int:
        """Returns the size of the file."""
        return os.path.getsize(os.path.join(self.path, FILE))

    def opened(self) -> lmdb.Environment | None:
        """See `LayerDatabase.opened`; a fork opens the file again."""
        with self._lock:
            status = os.stat(os.path.join(self.path, FILE))
            identity = os.getpid(), status.st_dev, status.st_ino, status.st_size
            if identity != self._identity:
                self.close()
                self._environment, self._identity = self._open(), identity
            return self._environment

    def close(self) -> None:
        with self._lock:
            if self._environment is not None:
                self._environment.close()
            self._environment, self._identity = None, None

    def _open(self) -> lmdb.Environment | None:
        damage = find_damage(self.path)
        if damage is not None:
            logger.warning(
                "The file %s of the store %s is damaged; delete it (%s). Its layers are computed "
                "again.",
                FILE,
                self.path,
                damage,
            )
            return None
        environment = _open_environment(self.path)
        with environment.begin() as transaction:
            foreign = transaction.stat()["entries"] > 0 and transaction.get(_MARK) is None
        if foreign:
            environment.close()
            raise ConfigurationError(
                f"{self.path} holds an LMDB file of another program; give the store a folder of "
                "its own"
            )
        return environment


_DATABASES: "weakref.WeakValueDictionary[str, LmdbDatabase]" = weakref.WeakValueDictionary()


def _open_environment(path: str) -> lmdb.Environment:
    # No process writes the file any more, so no lock is needed.
    return lmdb.open(path, readonly=True, lock=False)


def _checked(key: bytes, entry: Any, size: int | None) -> numpy.ndarray | None:
    """Returns a copy of the value in an entry; `None` if the entry is missing or damaged."""
    if entry is None or (size is not None and len(entry) != size + _CHECKSUM_BYTES):
        return None
    entry = numpy.frombuffer(entry, numpy.uint8)
    value = entry[_CHECKSUM_BYTES:].copy()
    checksum = int.from_bytes(entry[:_CHECKSUM_BYTES].tobytes(), "little")
    return value if zlib.crc32(value, zlib.crc32(key)) == checksum else None


# LMDB trusts its file, so a damaged file can crash the process that reads it. Another process
# therefore reads all pages first. It exits with 3 if it finds damage.
_CHECK = """
import os, sys, lmdb

def check(path):
    environment = lmdb.open(path, readonly=True, lock=False)
    end = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
    if os.path.getsize(os.path.join(path, "data.mdb")) < end:
        raise lmdb.Error("its file was cut short")
    with environment.begin(buffers=True) as transaction:
        for _ in transaction.cursor():
            pass

try:
    check(sys.argv[1])
except lmdb.Error as error:
    print(error)
    sys.exit(3)
"""


def find_damage(path: str) -> str | None:
    """Returns what is wrong with the file in a folder; `None` if it is sound."""
    if os.path.getsize(os.path.join(path, FILE)) < 2 * mmap.PAGESIZE:
        return "its file was cut short"
    check = subprocess.run([sys.executable, "-c", _CHECK, path], capture_output=True, text=True)
    if check.returncode < 0:
        return f"signal {-check.returncode} ended a process that read it"
    return check.stdout.strip() if check.returncode == 3 else None
