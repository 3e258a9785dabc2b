import os
import shutil
import stat
import struct
import zipfile
import zlib
from pathlib import Path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.member_bounds import MemberBounds

# The maximum size of the list of members, in bytes. `zipfile` reads it at once.
_MAX_LIST = 10**7

# A zip file ends with a record of 22 bytes and a comment of up to 64 kB. Bytes 12 to 15 of the
# record are the size of the list. A file with more than four gigabytes or 65,535 members has
# another record of 20 bytes before this record.
_END, _END_BYTES, _SECOND_END, _SECOND_BYTES = b"PK\5\6", 22 + 2**16, b"PK\6\7", 20

_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

# Bit 0 of a member's flags says that it is encrypted.
_ENCRYPTED = 1

# The exceptions that `zipfile` raises for a damaged file, and the exceptions that follow if an
# archive has a file and a folder of the same name.
_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    EOFError,
    ValueError,
    struct.error,
    zlib.error,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
)


def unzip(archive: str | os.PathLike, folder: Path, most: int) -> None:
    """
    Unpacks a zip file into a folder. Only the bytes of files are taken.

    # Raises

    `ConfigurationError`: The file is not a whole zip file, it unpacks to more than `most` bytes, or
        a member must not be unpacked (see `MemberBounds`).
    """
    bounds = MemberBounds(archive, most)
    try:
        _check_list(archive)
        with zipfile.ZipFile(archive) as file:
            for member in file.infolist():
                _unzip_member(file, member, folder, bounds)
    except ConfigurationError:
        raise
    except _ERRORS as error:
        raise ConfigurationError(f"{archive} is not a whole archive: {error}") from error


def _unzip_member(
    file: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, bounds: MemberBounds
) -> None:
    # The type of the file in Unix, or 0.
    kind = stat.S_IFMT(member.external_attr >> 16)
    is_plain = kind in (0, stat.S_IFREG, stat.S_IFDIR)
    path = folder / bounds.path_of(member.filename, member.file_size, is_plain)
    if member.compress_type not in _KINDS or member.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile(
            f"{member.filename!r:.80} is encrypted, or not compressed by deflate"
        )
    if member.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # `zipfile` reads at most `file_size` bytes, and compares their checksum.
    with file.open(member) as content, open(path, "wb") as written:
        shutil.copyfileobj(content, written)


def _check_list(archive: str | os.PathLike) -> None:
    """Raises `BadZipFile` if the list of members is missing, or too long to be read."""
    with open(archive, "rb") as file:
        file.seek(max(0, os.path.getsize(archive) - _END_BYTES - _SECOND_BYTES))
        end = file.read()
    place = end.rfind(_END)
    if place < 0 or len(end) < place + 22:
        raise zipfile.BadZipFile("its end is missing")
    if end[place - _SECOND_BYTES : place].startswith(_SECOND_END):
        raise zipfile.BadZipFile("it has more than four gigabytes or 65,535 members")
    (num_bytes,) = struct.unpack_from("<I", end, place + 12)
    if num_bytes > _MAX_LIST:
        raise zipfile.BadZipFile(f"its list of members has {num_bytes:,} bytes")
