import fcntl
import json
import logging
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError

logger = logging.getLogger(__name__)


@contextmanager
def own(output: str | os.PathLike) -> Iterator[None]:
    """
    Makes this process the only owner of an output, a file or a folder, while the block runs. The
    owner holds a lock (`flock`) on the file `.NAME.lock` beside the output, in which its process,
    host, command and start are written. The kernel releases the lock when the process ends, however
    it ends, so that the lock of a dead process is taken over.

    On NFS the lock also holds between machines if the server has locks. Where a file system has no
    locks, or the folder cannot be written to, the block runs without one.

    # Raises

    `ConfigurationError`
        Another process owns the output, and the message says which; or the file of the lock is a
        link, which could lead to any file.
    """
    path = Path(output).absolute()
    lock = path.with_name(f".{path.name}.lock")
    handle = _open_locked(lock, output)
    try:
        yield
    finally:
        if handle is not None:
            # The file is removed before the lock is released, so that nobody else's is removed.
            lock.unlink(missing_ok=True)
            os.close(handle)


def _open_locked(lock: Path, output: str | os.PathLike) -> int | None:
    while True:
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            handle = os.open(lock, flags, 0o666)
        except OSError as error:
            if os.path.islink(lock):
                raise ConfigurationError(
                    f"{lock} must be a file for the lock of {output}, but is a link; remove it"
                ) from error
            logger.info("%s is used without a lock (%s)", output, error)
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The owner of before may have removed the file after it was opened here.
            if _is_at(lock, handle):
                os.truncate(handle, 0)
                os.pwrite(handle, _about_this_process().encode(), 0)
                return handle
        except BlockingIOError:
            about = os.pread(handle, 10_000, 0).decode(errors="replace")
            os.close(handle)
            raise ConfigurationError(
                f"{output} is in use by {_owner(about)}; wait until it ends, stop it, or choose "
                "another output"
            ) from None
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


def _owner(about: str) -> str:
    try:
        owner = json.loads(about)
        return (
            f"process {owner['pid']} on {owner['host']} since {owner['since']} ({owner['command']})"
        )
    except (ValueError, KeyError, TypeError):
        # The owner has the lock, but has not written its name yet.
        return "another process"
