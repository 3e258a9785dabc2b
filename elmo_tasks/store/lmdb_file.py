import mmap
import os
import subprocess
import sys
from typing import Any

import lmdb

# Bytes of address space for the file; doubled whenever it is full. It takes no room on disk.
_MAP_SIZE = 2**30


def open_environment(path: str) -> lmdb.Environment:
    """
    Opens the environment to read and write; if that fails, to read; and if no lock can be had, to
    read without one.
    """
    ways: list[dict[str, Any]] = [{}, {"readonly": True}, {"readonly": True, "lock": False}]
    if not os.path.exists(path):
        os.makedirs(path)
    errors = []
    for way in ways:
        try:
            # Without `metasync`, a machine that fails can lose the last transaction, but no more.
            environment = lmdb.open(
                path, map_size=_MAP_SIZE, metasync=False, max_readers=512, **way
            )
        except lmdb.Error as error:
            errors.append(error)
        else:
            # Frees the slots of readers that were killed.
            environment.reader_check()
            return environment
    raise errors[0]


def begin(environment: lmdb.Environment, **how: Any) -> lmdb.Transaction:
    """Begins a transaction."""
    try:
        return environment.begin(**how)
    except lmdb.MapResizedError:
        # Another process has grown the file beyond our map.
        environment.set_mapsize(0)
        return environment.begin(**how)


def grow(environment: lmdb.Environment) -> None:
    """Doubles the map; no transaction may be open."""
    environment.set_mapsize(2 * environment.info()["map_size"])


def file_identity(path: str) -> tuple[int, ...]:
    """Returns what tells the file at the path from others; empty if there is none."""
    try:
        status = os.stat(os.path.join(path, "data.mdb"))
    except OSError:
        return ()
    return status.st_dev, status.st_ino


def is_cut_short(environment: lmdb.Environment, path: str) -> bool:
    """
    Tells whether the file is shorter than LMDB's map of it; then a read would end the process.
    """
    try:
        num_bytes = os.path.getsize(os.path.join(path, "data.mdb"))
    except OSError:
        return False
    # The first two pages say how many pages there are.
    if num_bytes < 2 * mmap.PAGESIZE:
        return True
    return num_bytes < (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]


# LMDB trusts its file, so that a damaged one can end the process that reads it. A process of its
# own therefore walks through all pages first; it exits with 3 if it finds damage.
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
    """Says what is wrong with the file at the path; `None` if nothing is."""
    data = os.path.join(path, "data.mdb")
    # An empty file is being made by another process.
    if not os.path.exists(data) or os.path.getsize(data) == 0:
        return None
    command = [sys.executable, "-c", _CHECK, path]
    try:
        check = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        # This process may not start another.
        return None
    if check.returncode < 0:
        return f"signal {-check.returncode} ended a process that read it"
    return check.stdout.strip() if check.returncode == 3 else None
