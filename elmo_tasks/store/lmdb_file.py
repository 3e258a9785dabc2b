import errno
import mmap
import os
import subprocess
import sys
from typing import Any

import lmdb

# LMDB maps the file into this many bytes of address space, which take no room on disk. They are
# doubled whenever they are full.
_MAP_SIZE = 2**30

_MAX_READERS = 512

# LMDB needs 64 bytes for each reader and some hundred for itself. It makes a file of this size
# larger if that is too little, and takes more readers if it is more.
_LOCK_BYTES = 64 * _MAX_READERS + 4096


def open_environment(path: str) -> lmdb.Environment:
    """
    Opens the environment for reading and writing. If that fails, opens it for reading only; if that
    fails as well, for reading without a lock.
    """
    ways: list[dict[str, Any]] = [{}, {"readonly": True}, {"readonly": True, "lock": False}]
    if not os.path.exists(path):
        os.makedirs(path)
    errors = []
    for way in ways:
        try:
            # Without `metasync`, a machine that fails can lose the last transaction, but no more.
            environment = lmdb.open(
                path, map_size=_MAP_SIZE, metasync=False, max_readers=_MAX_READERS, **way
            )
        except lmdb.Error as error:
            errors.append(error)
        else:
            # Frees the slots of readers that were killed.
            environment.reader_check()
            return environment
    raise errors[0]


def allocate_lock_file(path: str) -> None:
    """
    Gives the file `lock.mdb` its space on disk. LMDB makes this file with holes and maps it into
    memory, so that a full disk would end the process with SIGBUS. Raises `OSError` if the disk is
    full. Does nothing if the folder or the file cannot be written to, because the store is then
    only read.
    """
    try:
        os.makedirs(path, exist_ok=True)
        handle = os.open(os.path.join(path, "lock.mdb"), os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return
    try:
        status = os.fstat(handle)
        # Other processes may have mapped a file that exists, whose size then stays.
        size = status.st_size or _LOCK_BYTES
        if status.st_blocks * 512 < size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
    finally:
        os.close(handle)


def begin(environment: lmdb.Environment, **how: Any) -> lmdb.Transaction:
    """Begins a transaction, even if another process has enlarged the file."""
    try:
        return environment.begin(**how)
    except lmdb.MapResizedError:
        # The file is larger than our map; 0 stands for the size of the file.
        environment.set_mapsize(0)
        return environment.begin(**how)


def grow(environment: lmdb.Environment) -> None:
    """Doubles the map; no transaction may be open."""
    environment.set_mapsize(2 * environment.info()["map_size"])


def file_identity(path: str) -> tuple[int, ...]:
    """Returns the device and the inode of the file at the path; empty if there is no file."""
    try:
        status = os.stat(os.path.join(path, "data.mdb"))
    except OSError:
        return ()
    return status.st_dev, status.st_ino


def is_cut_short(environment: lmdb.Environment, path: str) -> bool:
    """
    Returns whether the file is shorter than LMDB takes it to be. Reading such a file would crash
    the process.
    """
    try:
        num_bytes = os.path.getsize(os.path.join(path, "data.mdb"))
    except OSError:
        return False
    # The first two pages say how many pages there are.
    if num_bytes < 2 * mmap.PAGESIZE:
        return True
    return num_bytes < (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]


# LMDB trusts its file, so a damaged file can crash the process that reads it. Another process
# therefore reads all pages first. It exits with 3 if it finds damage.
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
    """Returns what is wrong with the file at the path; `None` if it is sound or missing."""
    data = os.path.join(path, "data.mdb")
    # An empty file is being made by another process.
    if not os.path.exists(data) or os.path.getsize(data) == 0:
        return None
    command = [sys.executable, "-c", _CHECK, path]
    try:
        check = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        # This process is not allowed to start another, so the file is not checked.
        return None
    if check.returncode < 0:
        return f"signal {-check.returncode} ended a process that read it"
    return check.stdout.strip() if check.returncode == 3 else None
