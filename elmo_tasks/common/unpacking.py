import gzip
import os
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular

# An archive may have at most MAX_MEMBERS members, and unpack to at most MAX_GROWTH times its own
# size plus MORE_BYTES. Compression hardly shrinks weights, and shrinks text to a third.
MAX_MEMBERS, MAX_GROWTH, MORE_BYTES = 10_000, 20, 2**30

# What is raised for an archive that is damaged or not allowed.
_REFUSED = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error),
    *(EOFError, NotImplementedError, OverflowError, RuntimeError, UnicodeError, ValueError),
)


@contextmanager
def unpacked(archive: str | os.PathLike) -> Iterator[str]:
    """
    Unpacks a `model.tar.gz` or a zip file into a temporary folder, and yields the folder. Raises
    `ConfigurationError` if the file is damaged, has too many members or bytes, or has a member that
    is a link or a device or would lie outside the folder.
    """
    check_regular(archive)
    # The folder is named after the archive, so messages about its files show the archive's name.
    with tempfile.TemporaryDirectory(prefix=f"{Path(archive).name:.40}-") as folder:
        try:
            (_unzip if zipfile.is_zipfile(archive) else _untar)(archive, folder)
        except _REFUSED as error:
            raise ConfigurationError(f"{archive} is not unpacked: {error}") from error
        yield folder


def _untar(archive: str | os.PathLike, folder: str) -> None:
    with gzip.open(archive) as compressed:
        file = _Bounded(compressed, _most_bytes(archive))
        with tarfile.open(fileobj=file, mode="r|") as tar:  # type: ignore[call-overload]
            for index, member in enumerate(tar):
                if index >= MAX_MEMBERS:
                    raise tarfile.TarError(f"it has more than {MAX_MEMBERS:,} members")
                if not (member.isdir() or member.isreg()) or member.issparse():
                    raise tarfile.TarError(
                        f"its member {member.name!r:.200} is neither a file nor a folder"
                    )
                tar.extract(member, folder, filter="data")
        # Read to the end, where gzip compares the checksum of all bytes.
        while file.read(2**20):
            pass


def _unzip(archive: str | os.PathLike, folder: str) -> None:
    # `zipfile` keeps members inside the folder, writes links as files, and reads at most as many
    # bytes of a member as `infolist` says.
    with zipfile.ZipFile(archive) as file:
        members = file.infolist()
        num_bytes = sum(member.file_size for member in members)
        if len(members) > MAX_MEMBERS or num_bytes > _most_bytes(archive):
            raise ValueError(
                f"it has {len(members):,} members of {num_bytes:,} bytes; at most "
                f"{MAX_MEMBERS:,} members of {_most_bytes(archive):,} bytes are allowed"
            )
        file.extractall(folder)


def _most_bytes(archive: str | os.PathLike) -> int:
    return MAX_GROWTH * os.path.getsize(archive) + MORE_BYTES


class _Bounded:
    """Bounds the bytes that are read from a compressed file."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file, self._most = file, most

    def read(self, size: int) -> bytes:
        if self._file.tell() > self._most:
            raise tarfile.TarError(f"it unpacks to more than {self._most:,} bytes")
        return self._file.read(size)
