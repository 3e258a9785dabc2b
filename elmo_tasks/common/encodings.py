"""
Turns the bytes of a file into lines in UTF-8. The first bytes show the compression and the
encoding.
"""

import codecs
import gzip
import io
import lzma
import os
import re
import shlex
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

# The errors that reading a compressed file may raise.
DECOMPRESSING_ERRORS = (EOFError, OSError, lzma.LZMAError, zlib.error)

# How to open a compressed file, by its first two bytes. The suffix does not tell, because a fetched
# file has no suffix in the cache. No text in UTF-8 begins with these bytes.
_OPEN_COMPRESSED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7": lzma.open}

# The first bytes of files that are no text or table, what these files are, and what to do.
_NO_TEXT = (
    (rb"PAR1", "a file of Parquet", "give it the suffix .parquet"),
    (rb"PK\x03\x04", "a zip file or a workbook", "unpack it, or save its table as CSV"),
    (rb"\xd0\xcf\x11\xe0", "a file of an old Office program", "save its table as .xlsx or CSV"),
    (rb"BZh[1-9]1AY&SY", "compressed by bzip2", "unpack it: bunzip2 FILE"),
    (rb"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it: unzstd FILE"),
    (rb"7z\xbc\xaf|Rar!\x1a", "an archive of files", "unpack it"),
    (rb"(?s:.){257}ustar", "an archive of files (tar)", "unpack it"),
    (rb"%PDF-", "a PDF", "save its text"),
    (rb"version https://git-lfs", "a pointer of Git LFS", "fetch the file: git lfs pull"),
    (
        rb"\s*<(?i:!doctype html|html)\b",
        "a page of HTML",
        "save its text; if a site sent the page in place of a file, download the file itself",
    ),
    (rb"ARROW1|\xff{4}(?s:.{4})\x10\0\0\0", "a file of Arrow", "write its table as Parquet"),
    (
        rb"\xba\x16\x4f\x2f|\d+ \d+\n\S+ (?s:.){,400}?[\0-\x08]",
        "a binary file of word vectors (fastText or word2vec)",
        "write them as text, such as by gensim's save_word2vec_format",
    ),
    (
        rb"\x89HDF|\x93NUMPY|SQLite format 3|\x80[\x02-\x05]",
        "a binary file",
        "write its text",
    ),
)

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

# The number of first bytes that are looked at.
_HEAD = 8192

# A compressed file of some kilobytes can unfold to a line of gigabytes, so a longer one is refused.
_LONGEST_LINE = 2**28


def text_lines(raw: BinaryIO, path: str | os.PathLike) -> Iterable[bytes]:
    """
    Returns the lines of an open text file, after decompression and in UTF-8. A line ends with LF,
    CRLF, or in the files of an old Macintosh CR. Raises `ValueError` if the file is not text.
    """
    file = _decompress(raw)
    head = file.peek(_HEAD)[:_HEAD]
    for begin, kind, to_do in _NO_TEXT:
        if re.match(begin, head):
            raise ValueError(f"{path}: is {kind}, not text: {to_do}")
    encoding = _encoding(head)
    # The last byte may be the CR of a CRLF.
    start = head[:-1].decode(encoding or "utf-8", "ignore")
    newline = "\r" if "\r" in start and "\n" not in start else "\n"
    text = file
    if encoding is not None or newline == "\r":
        errors = "surrogateescape" if encoding is None else "strict"
        text = io.TextIOWrapper(file, encoding or "utf-8", errors, newline=newline)
    is_compressed = isinstance(file, gzip.GzipFile | lzma.LZMAFile)
    lines = _bounded_lines(text, path) if is_compressed else text
    if text is file:
        return lines
    errors = "surrogateescape" if encoding is None else "surrogatepass"
    return (line.encode("utf-8", errors) for line in lines)


def head_of(raw: BinaryIO) -> str:
    """
    Returns the beginning of an open file as text, without white space before it. The result is
    empty if the file is not text.
    """
    head = _decompress(raw).peek(_HEAD)[:_HEAD]
    if any(re.match(begin, head) for begin, *_ in _NO_TEXT):
        return ""
    return head.decode(_encoding(head) or "utf-8", "ignore").lstrip("\ufeff \t\r\n")


def advice(path: str | os.PathLike, line: bytes) -> str:
    """Returns what to do about a line that is not UTF-8."""
    name = shlex.quote(os.fspath(path))
    if b"\0" in line:
        return (
            "it has NUL bytes, so it is no text, or UTF-16 without a byte order mark: then convert "
            f"it: iconv -f UTF-16LE -t UTF-8 {name} > NEW"
        )
    if re.search(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]", line):
        return "it has control characters, so it is not text"
    return f"if it is Western European, convert it: iconv -f WINDOWS-1252 -t UTF-8 {name} > NEW"


def _decompress(raw: BinaryIO) -> Any:
    file: Any = raw if hasattr(raw, "peek") else io.BufferedReader(raw)  # type: ignore[type-var]
    open_compressed = _OPEN_COMPRESSED.get(file.peek(2)[:2])
    return file if open_compressed is None else open_compressed(file, "rb")


def _encoding(head: bytes) -> str | None:
    """
    Returns the encoding that a byte order mark names, or None for UTF-8. UTF-16 without such a mark
    is recognized by its zeros: in most letters, one of the two bytes is 0.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return encoding
    zeros = [head[start::2].count(0) for start in (0, 1)]
    for few, many, encoding in ((0, 1, "utf-16-le"), (1, 0, "utf-16-be")):
        if zeros[many] > len(head) / 4 and zeros[few] < len(head) / 40:
            return encoding
    return None


def _bounded_lines(text: Any, path: str | os.PathLike) -> Iterator[Any]:
    number = 0
    while line := text.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise ValueError(
                f"{path}:{number}: the line has over {_LONGEST_LINE:,} bytes after decompression"
            )
        yield line
