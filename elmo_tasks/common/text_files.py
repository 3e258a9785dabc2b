import glob
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NoReturn

from elmo_tasks.common.encodings import DECOMPRESSING_ERRORS, advice, text_lines
from elmo_tasks.common.fetch import local_path

logger = logging.getLogger(__name__)

# Files at addresses with these protocols are fetched, not streamed (see `local_path`).
_FETCHED = ("http", "https", "hf")

# The maximum length of a message about a line, in characters.
_MAX_MESSAGE = 400


def corpus_files(pattern: str | os.PathLike) -> list[str]:
    """
    Returns the sorted paths or addresses of the files that a path, an address or a glob pattern
    names, such as `s3://bucket/*.gz`. The path of an existing file is not treated as a pattern.
    Raises `FileNotFoundError` if no file is found.
    """
    system, path = _file_system(os.fspath(pattern))
    if system is not None:
        # Without a wildcard, `glob` returns the address itself if there is such a file.
        paths = sorted(map(str, system.glob(path)))
        if not paths:
            raise FileNotFoundError(f"file {pattern} not found")
        return [system.unstrip_protocol(name) for name in paths]
    matches = [] if os.path.isfile(pattern) else glob.glob(str(pattern), recursive=True)
    if paths := sorted(filter(os.path.isfile, matches)):
        return paths
    # An address may contain a question mark and still be no pattern. Its name, unlike that of its
    # copy, tells what kind of file it is.
    copy = local_path(pattern)
    return [os.fspath(pattern) if "://" in str(pattern) else copy]


@contextmanager
def open_bytes(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Opens a file, an address, or for `-` the standard input, as a stream of bytes."""
    if path == "-":
        yield sys.stdin.buffer
        return
    system, inside = _file_system(os.fspath(path))
    with open(local_path(path), "rb") if system is None else system.open(inside, "rb") as raw:
        yield raw


def read_lines(path: str | os.PathLike) -> Iterator[str]:
    """
    Yields the lines of a text file, without line ends and byte order marks. The file is UTF-8, or
    UTF-16 or UTF-32, and may be compressed by gzip or xz. Raises `ValueError` with file and line if
    a line cannot be read, or the file is not text.
    """
    for _, text in numbered_lines(path):
        yield text


def numbered_lines(path: str | os.PathLike) -> Iterator[tuple[int, str]]:
    """Yields each line with its number, from 1. Reads and raises as `read_lines` does."""
    with open_bytes(path) as raw:
        yield from lines_of(raw, path)


def lines_of(raw: BinaryIO, path: str | os.PathLike) -> Iterator[tuple[int, str]]:
    """Yields the lines of an open file as `numbered_lines` does."""
    number = 0
    try:
        for number, line in enumerate(text_lines(raw, path), start=1):
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{path}:{number}: not UTF-8: {error}; {advice(path, line)}"
                ) from error
            # Where files were joined, the mark stands within the file.
            yield number, text.removeprefix("\ufeff").rstrip("\r\n")
    except DECOMPRESSING_ERRORS as error:
        refuse_damaged(path, number, error)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: not {error.encoding[:6].upper()} after line {number}: {error}"
        ) from error


def refuse_damaged(path: str | os.PathLike, line_number: int, error: Exception) -> NoReturn:
    """
    Raises a `ValueError` that names the last readable line. Raises an error of the disk unchanged.
    """
    # The `OSError` of gzip about a damaged file has no `errno`.
    if isinstance(error, OSError) and error.errno is not None:
        raise error
    raise ValueError(f"{path}: is damaged after line {line_number}: {error}") from error


def split_lines(lines: Iterable[str], max_tokens: int, path: str) -> Iterator[list[str]]:
    """
    Yields the tokens of each line that has tokens. Cuts a line of more than `max_tokens` into
    pieces. At the end, logs how many lines of `path` were empty and how many were cut.
    """
    num_empty = num_cut = 0
    for line in lines:
        words = line.split()
        num_empty += not words
        num_cut += len(words) > max_tokens
        for start in range(0, len(words), max_tokens):
            yield words[start : start + max_tokens]
    if num_empty or num_cut:
        logger.warning(
            "%s: %d empty lines left out, %d lines of more than %d tokens cut into pieces",
            path,
            num_empty,
            num_cut,
            max_tokens,
        )


@contextmanager
def copy_of_stdin() -> Iterator[str]:
    """
    Yields the path of a temporary copy of the standard input. The copy may be read several times.
    """
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "standard_input.txt")
        with open(name, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield name


@contextmanager
def at_line(path: str | os.PathLike, line_number: int | str) -> Iterator[None]:
    """
    Puts file and line, or lines such as `3-7`, before the message of a `ValueError` that the block
    raises. Shortens the message to one line of bounded length, since it may quote the data.
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}:{line_number}: {shortened(str(error))}") from error


def shortened(message: str) -> str:
    """Returns a message, which may quote the data, on one line of bounded length."""
    message = " ".join(message.split())
    return f"{message[:_MAX_MESSAGE]}..." if len(message) > _MAX_MESSAGE else message


def _file_system(address: str) -> tuple[Any, str]:
    """
    Returns fsspec's file system for an address, and the path in it. The file system is `None` if
    fsspec does not stream the address.
    """
    protocol, separator, _ = address.partition("://")
    if not separator or protocol in _FETCHED:
        return None, address
    # fsspec is always installed, because PyTorch requires it.
    import fsspec

    try:
        return fsspec.core.url_to_fs(address)
    except (ImportError, ValueError):
        # The package for this protocol is not installed, or there is no such protocol.
        return None, address
