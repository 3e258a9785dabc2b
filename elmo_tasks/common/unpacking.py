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
from elmo_tasks.common.tar_stream import TarStream
from elmo_tasks.common.text import printable

# An archive may have at most MAX_MEMBERS members, and unpack to at most MAX_GROWTH times its own
# size plus MORE_BYTES. Compression hardly shrinks weights, and shrinks text to a third.
MAX_MEMBERS, MAX_GROWTH, MORE_BYTES = 10_000, 20, 2**30

# The most bytes of a member's name, which bound the depth of folders as well.
_MAX_NAME = 255

# How members of a zip file may be compressed. Those of bzip2 and LZMA are inflated without a bound.
_COMPRESSED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

# The errors that are raised for an archive that is damaged or not allowed.
_REFUSED = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error),
    *(EOFError, NotImplementedError, OverflowError, RuntimeError, UnicodeError, ValueError),
    # A member has the name of another one's folder.
    *(FileExistsError, IsADirectoryError, NotADirectoryError),
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
    with temporary_folder(f"{Path(archive).name:.40}-") as folder:
        try:
            (_unzip if zipfile.is_zipfile(archive) else _untar)(archive, folder)
        except _REFUSED as error:
            reason = f"{printable(str(error)):.400}"
            raise ConfigurationError(f"{archive} is not unpacked: {reason}") from error
        yield folder


@contextmanager
def temporary_folder(prefix: str | None = None) -> Iterator[str]:
    """
    Yields a new folder, and removes it at the end. The folder is removed even if Ctrl-C interrupts
    the removal.
    """
    folder = tempfile.TemporaryDirectory(prefix=prefix)
    try:
        yield folder.name
    finally:
        try:
            folder.cleanup()
        except KeyboardInterrupt:
            folder.cleanup()
            raise


def _untar(archive: str | os.PathLike, folder: str) -> None:
    with gzip.open(archive) as compressed:
        file = TarStream(compressed, _most_bytes(archive))
        with tarfile.open(fileobj=file, mode="r|") as tar:  # type: ignore[call-overload]
            for index, member in enumerate(tar):
                if index >= MAX_MEMBERS:
                    raise tarfile.TarError(f"it has more than {MAX_MEMBERS:,} members")
                _check_name(member.name)
                if not (member.isdir() or member.isreg()) or member.issparse():
                    raise tarfile.TarError(
                        f"its member {member.name!r:.200} is neither a file nor a folder"
                    )
                tar.extract(member, folder, filter="data")
                # `tarfile` would keep the records of each member.
                tar.members.clear()
        # Read to the end, where gzip compares the checksum of all bytes.
        while file.read(2**20):
            pass


def _unzip(archive: str | os.PathLike, folder: str) -> None:
    # `zipfile` keeps members inside the folder, writes links as files, and inflates at most as many
    # bytes of a member as `infolist` says.
    with zipfile.ZipFile(archive) as file:
        members = file.infolist()
        num_bytes = sum(member.file_size for member in members)
        if len(members) > MAX_MEMBERS or num_bytes > _most_bytes(archive):
            raise ValueError(
                f"it has {len(members):,} members of {num_bytes:,} bytes; at most "
                f"{MAX_MEMBERS:,} members of {_most_bytes(archive):,} bytes are allowed"
            )
        for member in members:
            _check_name(member.filename)
            if member.compress_type not in _COMPRESSED:
                raise ValueError(
                    f"its member {member.filename!r:.200} is compressed by the method "
                    f"{member.compress_type}, not by deflate"
                )
        file.extractall(folder)


def _check_name(name: str) -> None:
    num_bytes = len(name.encode("utf-8", "surrogateescape"))
    if num_bytes > _MAX_NAME:
        raise ValueError(
            f"the name of its member {name!r:.40}... has {num_bytes:,} bytes; at most {_MAX_NAME} "
            "are allowed"
        )


def _most_bytes(archive: str | os.PathLike) -> int:
    return MAX_GROWTH * os.path.getsize(archive) + MORE_BYTES
