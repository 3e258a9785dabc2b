import errno
import gzip
import logging
import lzma
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from elmo_tasks.common.errors import ConfigurationError

logger = logging.getLogger(__name__)

# A disk with fewer free bytes than this counts as full.
_FULL = 2**16


@contextmanager
def atomic_write(
    path: str | os.PathLike, name_of: Callable[[Path], str] | None = None
) -> Iterator[Path]:
    """
    Makes a file appear whole or not at all. Yields the path of a temporary file to write to. If the
    block ends without an error, the temporary file is renamed to `path`; otherwise it is removed.
    If `name_of` is given, it gets the finished temporary file, and returns another name for the
    file in the folder of `path`. If the disk is full, raises an `OSError` that names `path`. Raises
    `ConfigurationError` if `path` is a device or a pipe, such as `/dev/stdout`, because the renamed
    file would replace it.
    """
    target = Path(path)
    if is_stream(target):
        raise ConfigurationError(f"{path} is a device or a pipe, which no file may replace")
    folder = target.parent
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=folder)
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        # `mkstemp` makes the file readable by its owner only; give it the usual permissions.
        umask = os.umask(0)
        os.umask(umask)
        aside.chmod(0o666 & ~umask)
        # Windows can sync a file only if it is open for writing.
        with open(aside, "r+b") as copy:
            os.fsync(copy.fileno())
        aside.replace(target if name_of is None else target.with_name(name_of(aside)))
    except (OSError, RuntimeError) as error:
        # If a disk is full, PyTorch raises a RuntimeError, and HDF5 an OSError without an `errno`.
        if _is_full(folder, error):
            full = os.strerror(errno.ENOSPC)
            raise OSError(errno.ENOSPC, full, os.fspath(path)) from error
        raise
    finally:
        aside.unlink(missing_ok=True)


def file_stamp(path: str | os.PathLike) -> tuple[int, ...]:
    """
    Returns numbers that change when a file is written again or replaced, for the key of a cache of
    its content. Without such a file, the tuple is empty. Call this before you read the file.
    """
    try:
        about = os.stat(path)
    except OSError:
        return ()
    # A copy may have the time of its original (`cp -p`), but the time of a change is its own.
    return (about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino)


def write_whole(path: str | os.PathLike, content: str | bytes | memoryview) -> None:
    """Writes a file whole or not at all, as `atomic_write` does, and text as `open_text`."""
    with atomic_write(path) as aside:
        if isinstance(content, str):
            with open_text(aside, path) as file:
                file.write(content)
        else:
            aside.write_bytes(content)


def open_text(path: str | os.PathLike, name: str | os.PathLike) -> IO[str]:
    """Opens a file to write text. The suffix of `name` says whether the text is compressed."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
    opener = openers.get(Path(name).suffix.lower(), open)
    file: IO[str] = opener(path, "wt", encoding="utf-8", newline="")
    return file


def check_compression(name: str | os.PathLike) -> None:
    """Raises `ConfigurationError` if a name says that its file is compressed as none is written."""
    suffix = Path(name).suffix.lower()
    if suffix in (".bz2", ".zip", ".zst", ".7z"):
        raise ConfigurationError(
            f"{name}: no file is written as {suffix}: choose a name that ends in .gz or .xz"
        )


@contextmanager
def lock(output: str | os.PathLike) -> Iterator[None]:
    """
    Locks an output (a file or a folder) while the block runs, by a lock file `.NAME.lock` beside
    it. The system releases the lock when the process ends, even if it is killed. If the file system
    has no locks, or the folder cannot be written to, the block runs without a lock. Raises
    `ConfigurationError` if another process has the lock, or if the lock file is a link, which could
    lead to any file.
    """
    # A biLM, which uses this module only to write files, should not need the package filelock.
    from filelock import FileLock, Timeout

    path = Path(output).absolute()
    file = path.with_name(f".{path.name}.lock")
    if file.is_symlink():
        raise ConfigurationError(
            f"{file} must be a file for the lock of {output}, but is a link; remove it"
        )
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


def is_stream(path: str | os.PathLike) -> bool:
    """Returns whether a path such as `/dev/stdout` leads to a device, a pipe or an open file."""
    path = Path(path)
    # `/dev/stdout` is a link to an open file, which may be a regular file.
    if path.is_symlink() and os.readlink(path).startswith("/proc/"):
        return True
    return path.exists() and not (path.is_file() or path.is_dir())


def _is_full(folder: Path, error: Exception) -> bool:
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return True
    return "No space left" in str(error) or shutil.disk_usage(folder).free < _FULL
