import gzip
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular

# An archive may have this many members. It may unpack to this many times its own size, and this
# many bytes more: weights hardly shrink when they are compressed, and text shrinks to a third.
MAX_MEMBERS, MAX_GROWTH, MORE_BYTES = 10_000, 20, 2**30

# The maximum depth of a member. Python removes folders by recursion.
_MAX_DEPTH = 20

# The maximum number of bytes that are read at once. No header of an archive asks for more.
_MAX_READ = 2**20

# The errors of a damaged archive.
_DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error),
    *(EOFError, NotImplementedError, OverflowError, RuntimeError, UnicodeError, ValueError),
)


@contextmanager
def unpacked(archive: str | os.PathLike, keep: bool = False) -> Iterator[str]:
    """
    Unpacks a `model.tar.gz` or a zip file into a temporary folder, and yields its path. With
    `keep`, the folder stays when the block ends without an error. Raises `ConfigurationError` if
    the file is not a whole archive, has too many members or bytes, or has a member that is a link
    or a device or would lie outside the folder.
    """
    check_regular(archive)
    # Messages about files in the folder then show the name of the archive.
    folder = tempfile.mkdtemp(prefix=f"{Path(archive).name:.40}-")
    try:
        try:
            (_unzip if zipfile.is_zipfile(archive) else _untar)(archive, folder)
        except ConfigurationError:
            raise
        except tarfile.FilterError as error:
            raise ConfigurationError(f"{archive} is not unpacked: {error}") from error
        except _DAMAGED as error:
            raise ConfigurationError(f"{archive} is not a whole archive: {error}") from error
        yield folder
    except BaseException:
        keep = False
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _untar(archive: str | os.PathLike, folder: str) -> None:
    with gzip.open(archive) as compressed:
        file = _BoundedFile(compressed, _most_bytes(archive))
        with tarfile.open(fileobj=file, mode="r:") as tar:  # type: ignore[call-overload]
            for index, member in enumerate(tar):
                fault = _fault(member, index)
                if fault is not None:
                    raise ConfigurationError(f"{archive} is not unpacked: {fault}")
                tar.extract(member, folder, filter="data")
        # The checksum of all bytes is at the end of the file.
        while file.read(_MAX_READ):
            pass


def _fault(member: tarfile.TarInfo, index: int) -> str | None:
    """Returns why a member is not unpacked, or `None`."""
    if index >= MAX_MEMBERS:
        return f"it has more than {MAX_MEMBERS:,} members"
    if not (member.isdir() or (member.isreg() and not member.issparse())):
        return f"its member {member.name!r:.200} is neither a file nor a folder"
    if member.name.count("/") > _MAX_DEPTH:
        return f"its member {member.name!r:.200} is more than {_MAX_DEPTH} folders deep"
    return None


def _unzip(archive: str | os.PathLike, folder: str) -> None:
    # `zipfile` keeps members inside the folder, writes links as files, and reads as many bytes of a
    # member as the list says.
    with zipfile.ZipFile(archive) as file:
        members = file.infolist()
        num_bytes = sum(member.file_size for member in members)
        if len(members) > MAX_MEMBERS or num_bytes > _most_bytes(archive):
            raise ConfigurationError(
                f"{archive} is not unpacked: it has {len(members):,} members of {num_bytes:,} bytes"
            )
        file.extractall(folder)


def _most_bytes(archive: str | os.PathLike) -> int:
    return MAX_GROWTH * os.path.getsize(archive) + MORE_BYTES


class _BoundedFile:
    """Bounds what is read: the header of a member could make `tarfile` read all into memory."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file, self._most = file, most
        self.tell = file.tell

    def read(self, size: int) -> bytes:
        if size > _MAX_READ:
            raise tarfile.ReadError(f"a header asks for {size:,} bytes")
        self._check(self.tell() + size)
        return self._file.read(size)

    def seek(self, position: int) -> None:
        if position < self.tell() - 1:
            raise tarfile.ReadError("a header leads back")
        self._check(position)
        self._file.seek(position)

    def _check(self, position: int) -> None:
        # In a tar file, zeros fill up the last block of each member, and follow the last member.
        if position > self._most + _MAX_READ:
            raise tarfile.ReadError(f"it unpacks to more than {self._most:,} bytes")
