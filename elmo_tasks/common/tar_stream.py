import gzip
import re
import tarfile

# The types of headers whose content is a long name, or records, of the member that follows.
_NAMES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_RECORDS = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.XGLTYPE)

# The most bytes of such a header, of all of them, and the most that follow each other.
_MAX_BYTES, _MAX_SUM, _MAX_HEADERS = 8192, 2**22, 4

# A record: its length, a key and a value. A longer run of digits is not a length.
_RECORD = re.compile(rb"(\d{1,4}) ([^=\n]{1,255})=")
_MANY_DIGITS = re.compile(rb"\d{40}")

# Keys that change where the next header is.
_MOVING = re.compile(rb"size|GNU\.sparse\..*")


class TarStream:
    """
    A compressed tar archive whose headers are checked before `tarfile` reads them. `tarfile` reads
    long names and records of any size, and recurses once for each header before a member. Before
    Python 3.11.10 and 3.12.6, its time grows with the square of the number of digits in a header
    (CVE-2024-6232). Raises `tarfile.TarError` for too many or too long headers, and if more than
    `most` bytes are read.
    """

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file, self._most = file, most
        self._has_members = self._has_ended = False
        # The headers before the next member, and the bytes of all such headers.
        self._num_headers = self._sum = 0
        # The bytes until the next header, and the records among them that were read.
        self._bytes_left = 0
        self._records: bytes | None = None

    def read(self, size: int) -> bytes:
        """Reads `size` bytes; `tarfile` asks for whole blocks."""
        if self._file.tell() > self._most:
            raise tarfile.TarError(f"it unpacks to more than {self._most:,} bytes")
        content = self._file.read(size)
        start = 0
        while start < len(content) and not self._has_ended:
            if not self._bytes_left:
                self._read_header(content[start : start + tarfile.BLOCKSIZE])
                start += tarfile.BLOCKSIZE
                continue
            piece = content[start : start + self._bytes_left]
            start += len(piece)
            self._bytes_left -= len(piece)
            if self._records is not None:
                self._records += piece
                if not self._bytes_left:
                    _check_records(self._records.rstrip(b"\0"))
        return content

    def _read_header(self, block: bytes) -> None:
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError:
            # The end, or damage. `tarfile` reads no header after it either.
            self._has_ended = True
            return
        if header.size < 0 or header.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.TarError(
                f"its member {header.name!r:.200} is neither a file nor a folder"
            )
        is_before = header.type in _NAMES + _RECORDS
        if is_before:
            self._count(header)
        else:
            self._num_headers, self._has_members = 0, True
        has_content = is_before or header.isreg() or header.type not in tarfile.SUPPORTED_TYPES
        num_blocks = -(-header.size // tarfile.BLOCKSIZE) if has_content else 0
        self._bytes_left = num_blocks * tarfile.BLOCKSIZE
        self._records = b"" if header.type in _RECORDS else None

    def _count(self, header: tarfile.TarInfo) -> None:
        self._num_headers += 1
        self._sum += header.size
        if header.size > _MAX_BYTES or self._num_headers > _MAX_HEADERS or self._sum > _MAX_SUM:
            raise tarfile.TarError(
                f"it has {self._num_headers} headers in a row, the last of {header.size:,} bytes; "
                f"at most {_MAX_HEADERS} of {_MAX_BYTES:,} bytes are allowed, and in the whole "
                f"archive {_MAX_SUM:,} bytes"
            )
        # `tarfile` copies the records for all members to each of them.
        if header.type == tarfile.XGLTYPE and self._has_members:
            raise tarfile.TarError("it has records for all members after the first member")


def _check_records(records: bytes) -> None:
    start = 0
    while start < len(records):
        record = _RECORD.match(records, start)
        if record is None or not int(record[1]) or _MOVING.fullmatch(record[2]):
            raise tarfile.TarError(
                f"its header has the record {records[start : start + 40]!r}, which is not allowed"
            )
        start += int(record[1])
    if _MANY_DIGITS.search(records):
        raise tarfile.TarError("its header has a record of too many digits")
