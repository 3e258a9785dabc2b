import mmap
import os
import subprocess
import sys
from typing import Any

import lmdb

# Address space for the file, doubled whenever it is full; it takes no room on disk.
_MAP_SIZE = 2**30


def open_environment(path: str) -> lmdb.Environment:
    """To read and write; where that cannot be, to read; or even where no lock can be had."""
    ways: list[dict[str, Any]] = [{}, {"readonly": True}, {"readonly": True, "lock": False}]
    if not os.path.exists(path):
        os.makedirs(path)
    errors = []
    for way in ways:
        try:
            # Without `metasync` the last transaction may be lost if the machine fails, and no more.
            environment = lmdb.open(
                path, map_size=_MAP_SIZE, metasync=False, max_readers=512, **way
            )
        except lmdb.Error as error:
            errors.append(error)
        else:
            # Frees the places of readers that were killed.
            environment.reader_check()
            return environment
    raise errors[0]


def begin(environment: lmdb.Environment, **how: Any) -> lmdb.Transaction:
    """A transaction."""
    try:
        return environment.begin(**how)
    except lmdb.MapResizedError:
        # Another process has made the file larger than our map.
        environment.set_mapsize(0)
        return environment.begin(**how)


def grow(environment: lmdb.Environment) -> None:
    """Makes room for more; no transaction may be open."""
    environment.set_mapsize(2 * environment.info()["map_size"])


def file_identity(path: str) -> tuple[int, ...]:
    """Which file is at the path, if any."""
    try:
        status = os.stat(os.path.join(path, "data.mdb"))
    except OSError:
        return ()
    return status.st_dev, status.st_ino


def is_cut_short(environment: lmdb.Environment, path: str) -> bool:
    """Whether to read would end the process: LMDB's map goes beyond the end of the file."""
    try:
        num_bytes = os.path.getsize(os.path.join(path, "data.mdb"))
    except OSError:
        return False
    # The first two pages say how many there are.
    if num_bytes < 2 * mmap.PAGESIZE:
        return True
    return num_bytes < (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]


# LMDB trusts its file, and one that was damaged can end the process that reads it: the first to
# walk through its pages is a process of its own, which ends with 3 where it finds damage.
_CHECK = """
import os, sys, lmdb

def check(path):
    try:
        environment = lmdb.open(path, readonly=True, max_readers=512)
    except lmdb.Error:
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
    """What is wrong with the file at the path, if anything."""
    data = os.path.join(path, "data.mdb")
    # An empty one is being made by another process.
    if not os.path.exists(data) or os.path.getsize(data) == 0:
        return None
    command = [sys.executable, "-c", _CHECK, path]
    try:
        check = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        # No process may be started here.
        return None
    if check.returncode < 0:
        return f"signal {-check.returncode} ended a process that read it"
    return check.stdout.strip() if check.returncode == 3 else None
