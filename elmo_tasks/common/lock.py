import json
import logging
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from filelock import lock_descriptor

from elmo_tasks.common.errors import ConfigurationError

logger = logging.getLogger(__name__)


@contextmanager
def own(output: str | os.PathLike) -> Iterator[None]:
    """
    Makes this process the only owner of an output (a file or a folder) while the block runs. The
    owner holds a lock on the file `.NAME.lock` beside the output. This file tells the owner's
    process, host, command and start. The kernel releases the lock however the process ends.

    On NFS the lock also holds between machines if the server supports locks. Where a file system
    has no locks, or the folder cannot be written to, the block runs without a lock.

    # Raises

    `ConfigurationError`: Another process owns the output (the message names the process), or the
        lock file is a link, which could lead to any file.
    """
    path = Path(output).absolute()
    lock = path.with_name(f".{path.name}.lock")
    handle = _open_locked(lock, output)
    try:
        yield
    finally:
        if handle is not None:
            # The file is removed before the lock is released. After that, it could be the file of
            # another owner. On Windows the file stays, because an open file cannot be removed.
            with suppress(PermissionError):
                lock.unlink(missing_ok=True)
            os.close(handle)


def _open_locked(lock: Path, output: str | os.PathLike) -> int | None:
    while True:
        if lock.is_symlink():
            raise ConfigurationError(
                f"{lock} must be a file for the lock of {output}, but is a link; remove it"
            )
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(lock, flags, 0o666)
        except OSError as error:
            logger.info("%s is used without a lock (%s)", output, error)
            return None
        try:
            if not lock_descriptor(handle, blocking=False):
                owner = _owner(handle)
                os.close(handle)
                raise ConfigurationError(
                    f"{output} is in use by {owner}; wait until it ends, stop it, or choose "
                    "another output"
                )
            # The previous owner may have removed the file after it was opened here.
            if _is_at(lock, handle):
                os.truncate(handle, 0)
                os.write(handle, _about_this_process().encode())
                return handle
        except OSError as error:
            os.close(handle)
            logger.info("%s is used without a lock (%s)", output, error)
            return None
        os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _about_this_process() -> str:
    about = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]]),
        "since": datetime.now().astimezone().isoformat(" ", "seconds"),
    }
    return json.dumps(about) + "\n"


def _owner(handle: int) -> str:
    try:
        owner = json.loads(os.read(handle, 10_000))
        return (
            f"process {owner['pid']} on {owner['host']} since {owner['since']} ({owner['command']})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        # The owner has not written its name yet, or Windows lets no other process read the file.
        return "another process"
