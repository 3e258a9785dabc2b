import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from elmo_tasks.common.errors import ConfigurationError

logger = logging.getLogger(__name__)


@contextmanager
def lock(output: str | os.PathLike) -> Iterator[None]:
    """
    Locks an output (a file or a folder) while the block runs, by the file `.NAME.lock` beside it.
    The kernel releases the lock however the process ends. Where the folder has no locks or cannot
    be written to, the block runs without. Raises `ConfigurationError` if another process has the
    lock.
    """
    path = Path(output).absolute()
    file = path.with_name(f".{path.name}.lock")
    lock = FileLock(file)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise ConfigurationError(
            f"{output} is in use by another process; wait until it ends, or choose another output"
        ) from None
    except OSError as error:
        logger.info("%s is used without a lock (%s)", output, error)
    try:
        yield
    finally:
        if lock.is_locked:
            # The file is removed before the lock is released. After that, it could be the file of
            # another process. On Windows the file stays, because an open file cannot be removed.
            with suppress(PermissionError):
                file.unlink(missing_ok=True)
            lock.release()
