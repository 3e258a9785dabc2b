import errno
import gzip
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.member_bounds import MemberBounds
from elmo_tasks.common.zip_file import unzip

# An archive may unpack to this many times its own size, and this many bytes more. Weights hardly
# shrink when they are compressed, and text shrinks to a third or so.
MAX_GROWTH = 20
MORE_BYTES = 2**30

# The errors of a full disk, for which the archive is not to blame.
_FULL = (errno.ENOSPC, errno.EDQUOT)

# The maximum number of bytes that are read at once. No header of an archive asks for more.
_MAX_READ = 2**20


@contextmanager
def unpacked(archive: str | os.PathLike, keep: bool = False) -> Iterator[str]:
    """
    Unpacks a `model.tar.gz` or a zip file into a temporary folder. Yields the folder's path.

    Only the bytes of files are taken: owners, permissions and times are not.

    # Parameters

    archive: The path of a local file.
    keep (default `False`): Whether the folder stays when the block ends without an error.

    # Raises

    `ConfigurationError`: The file is not a whole archive; it unpacks to more than `MAX_GROWTH`
        times its size plus `MORE_BYTES`; or a member is a link or a device, or would lie outside
        the folder. The message names the member.
    """
    check_regular(archive)
    # Messages about files in the folder then show the name of the archive.
    folder = tempfile.mkdtemp(prefix=f"{Path(archive).name:.40}-")
    try:
        with open(archive, "rb") as file:
            start = file.read(2)
        if start not in (b"PK", b"\x1f\x8b"):
            raise ConfigurationError(
                f"{archive} is not a whole archive: it is neither a zip file nor a tar.gz file"
            )
        (unzip if start == b"PK" else _unpack)(archive, Path(folder), _most_bytes(archive))
        yield folder
    except BaseException:
        keep = False
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def check_members(tar: tarfile.TarFile, archive: str | os.PathLike) -> None:
    """
    Raises `ConfigurationError`, as `unpacked` does, if a member of an open tar file must not be
    unpacked. Otherwise removes the members' owners and permissions.
    """
    for member, _ in _members(tar, archive, _most_bytes(archive)):
        member.mode = 0o755 if member.isdir() else 0o644
        # Only root can give files to another owner; here it gives them to itself.
        member.uid, member.gid, member.uname, member.gname = 0, 0, "", ""


def _unpack(archive: str | os.PathLike, folder: Path, most: int) -> None:
    try:
        with gzip.open(archive) as compressed:
            file = _BoundedReader(compressed, most)
            with tarfile.open(fileobj=file, mode="r:") as tar:  # type: ignore[call-overload]
                for member, path in _members(tar, archive, most):
                    _write(tar, member, folder / path)
            # The checksum of all bytes stands at the end of the file.
            while file.read(_MAX_READ):
                pass
    except (_Damaged, tarfile.TarError, RecursionError, OSError) as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            raise
        # The message leaves out the path, which is temporary and may be long.
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"{archive} is not a whole archive: {reason}") from error


def _members(
    tar: tarfile.TarFile, archive: str | os.PathLike, most: int
) -> Iterator[tuple[tarfile.TarInfo, PurePosixPath]]:
    """Yields each member that may be unpacked, with its path in the folder."""
    bounds = MemberBounds(archive, most)
    for member in tar:
        is_plain = (member.isdir() or member.isreg()) and not member.issparse()
        yield member, bounds.path_of(member.name, member.size, is_plain)


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    assert content is not None
    with content, open(path, "wb") as written:
        shutil.copyfileobj(content, written)
    if path.stat().st_size != member.size:
        raise _Damaged(f"its member {member.name!r:.200} is cut short")


def _most_bytes(archive: str | os.PathLike) -> int:
    return MAX_GROWTH * os.path.getsize(archive) + MORE_BYTES


class _Damaged(Exception):
    pass


class _BoundedReader:
    """
    Reads at most `most` bytes of a compressed file, in small portions. Otherwise the header of a
    member could make `tarfile` read the whole file into memory.
    """

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file = file
        self._most = most

    def read(self, size: int) -> bytes:
        if size > _MAX_READ:
            raise _Damaged(f"a header asks for {size:,} bytes")
        self._check(self.tell() + size)
        try:
            return self._file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise _Damaged(str(error)) from error

    def seek(self, position: int) -> None:
        self._check(position)
        try:
            self._file.seek(position)
        except (OSError, EOFError, zlib.error) as error:
            raise _Damaged(str(error)) from error

    def _check(self, position: int) -> None:
        # In a tar file, zeros fill up the last block of each member, and follow the last member.
        if position > self._most + _MAX_READ:
            raise _Damaged(f"it unpacks to more than {self._most:,} bytes")

    def tell(self) -> int:
        return self._file.tell()
