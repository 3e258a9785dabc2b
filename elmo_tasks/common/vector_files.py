"""Reads text files of word vectors such as GloVe's, with a word and its numbers on each line."""

import bz2
import contextlib
import logging
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

import numpy
from tqdm import tqdm

from elmo_tasks.common.columns import warn_once
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.text import listed
from elmo_tasks.common.text_files import at_line, lines_of

logger = logging.getLogger(__name__)

# The path of a file in an archive, as AllenNLP writes it: `(vectors.zip)#glove.6B.100d.txt`.
_MEMBER = re.compile(r"\((.*)\)#(.*)")

# The files that `scripts/fetch_data.py` of this package's repository makes, and its option.
_GLOVE = {"glove.6B.100d.120k.txt.gz": "6B", "glove.840B.300d.txt": "840B"}

_EXPECTED = "expected a word and its numbers on each line"


def read_vectors(
    path: str,
    dim: int | None = None,
    only_words: Collection[str] | None = None,
    max_words: int | None = None,
) -> dict[str, numpy.ndarray]:
    """
    Returns the vectors of words in float32, in the order of the file. If a word occurs twice, its
    first vector counts. Empty words and words with a blank, of which GloVe 840B has a few, are left
    out. The log counts both kinds of lines.

    # Parameters

    path: A path or an address of a text file, which may be compressed or in a zip or tar file;
        `(ARCHIVE)#MEMBER` names one of several members.
    dim: The number of numbers in a vector, by default as in the header or the first line.
    only_words: The words to return. By default all words are returned.
    max_words: The most words that are read.

    # Raises

    `ConfigurationError`: There is no line, or the vectors have another width.
    `ValueError`: A line is cut, or has a value that is not a finite number. The message names the
        line.
    """
    vectors: dict[str, numpy.ndarray] = {}
    num_twice = num_blank = 0
    for number, word, fields in tqdm(_split_lines(path, dim), desc=f"reading {path}"):
        if word in vectors:
            num_twice += 1
            continue
        is_blank = not word or " " in word
        num_blank += is_blank
        if is_blank or only_words is None or word in only_words:
            with at_line(path, number):
                vector = _vector(fields)
            if not is_blank:
                vectors[word] = vector
            if len(vectors) == max_words:
                break
    left_out = {
        "that came before; the first counts": num_twice,
        "that is empty or has a blank": num_blank,
    }
    for kind, count in left_out.items():
        if count:
            logger.warning("%s: left out %d lines of a word %s", path, count, kind)
    return vectors


def check_words(path: str, vectors: Collection[str], words: Collection[str]) -> None:
    """
    Checks how many words of a text have, as they are or in lower case, one of a file's `vectors`.
    Logs if fewer than half do, and raises `ConfigurationError` if none does.
    """
    num_found = sum(word in vectors or word.lower() in vectors for word in words)
    if not num_found:
        raise ConfigurationError(
            f"{path} has no vector for any word of the text: {_EXPECTED}, with the words of the "
            "same language"
        )
    if 2 * num_found < len(words):
        message = "%s has vectors for only %d of the %d words: are they of the same language?"
        logger.warning(message, path, num_found, len(words))


def check_vectors(path: str) -> None:
    """
    Raises `FileNotFoundError` if a local file of vectors is missing. The message says how to fetch
    it.
    """
    outer = _split_member(path)[0]
    if "://" in outer or os.path.exists(os.path.expanduser(outer)):
        return
    glove = _GLOVE.get(os.path.basename(outer))
    advice = f": `python scripts/fetch_data.py --glove {glove}` makes it" if glove else ""
    raise FileNotFoundError(f"file {outer} not found{advice}")


def vector_words(path: str) -> list[str]:
    """Returns the words of a file in its order, without those that `read_vectors` leaves out."""
    lines = tqdm(_split_lines(path, None), desc=f"reading the words of {path}")
    return [word for _, word, _ in lines if word and " " not in word]


def _vector(fields: list[str]) -> numpy.ndarray:
    with numpy.errstate(over="ignore"):
        vector = numpy.array(fields, dtype=numpy.float32)
    if not numpy.isfinite(vector).all():
        (index, *_) = numpy.nonzero(~numpy.isfinite(vector))[0]
        raise ValueError(f"{fields[index]!r:.40} is not a finite number")
    return vector


def _split_lines(path: str, dim: int | None) -> Iterator[tuple[int, str, list[str]]]:
    """Yields the number of each line that is not blank, its word, and its numbers as text."""
    is_first, width = True, 0
    num_promised = num_lines = 0
    with _open(path) as raw:
        for number, line in lines_of(raw, path):
            # A word may be a space character of Unicode, which `split()` would remove.
            fields = line.replace("\t", " ").rstrip(" ").split(" ")
            if fields == [""]:
                continue
            if is_first:
                is_first = False
                header = len(fields) == 2 and all(field.isdecimal() for field in fields)
                width = int(fields[1]) if header else _width(fields)
                if dim is not None and width != dim:
                    raise ConfigurationError(
                        f"{path}:{number}: the vectors have {width} numbers, not {dim}: set "
                        "embedding_dim to the width of the vectors in the file"
                        if width
                        else f"{path}:{number}: there are no numbers: {_EXPECTED}"
                    )
                if header:
                    num_promised = int(fields[0])
                    continue
            if len(fields) != width + 1:
                fields = _without_gaps(fields)
            with at_line(path, number):
                if len(fields) <= width or width == 0:
                    raise ValueError(
                        f"there are {max(0, len(fields) - 1)} numbers after the word, not "
                        f"{width or 'one or more'}; the line or the file is cut, or the separator "
                        "is neither a blank nor a tab"
                    )
                if len(fields) > width + 1 and not _is_number(fields[-width]):
                    raise ValueError(f"{fields[-width]!r:.40} is not a number")
            num_lines += 1
            yield number, " ".join(fields[:-width]), fields[-width:]
    if num_lines < num_promised:
        warn_once(
            f"{path}: the header names {num_promised} words, but there are {num_lines}: is the "
            "file whole?"
        )
    if is_first:
        raise ConfigurationError(f"{path} is empty: {_EXPECTED}")


def _without_gaps(fields: list[str]) -> list[str]:
    """Removes the empty field that two blanks behind the word make."""
    word, *numbers = fields
    return [word, *filter(None, numbers)]


def _width(fields: list[str]) -> int:
    """
    Returns how many numbers a line ends with. The word at its beginning does not count, even if it
    is a number.
    """
    width = 0
    word, *numbers = _without_gaps(fields)
    for field in reversed(numbers):
        if not _is_number(field):
            break
        width += 1
    return width


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


@contextlib.contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    """Opens a file of vectors, or the one file of a zip or tar file, as a stream of bytes."""
    check_vectors(path)
    outer, member = _split_member(path)
    local = local_path(outer)
    with contextlib.ExitStack() as stack:
        file: Any
        if zipfile.is_zipfile(local):
            archive = stack.enter_context(zipfile.ZipFile(local))
            names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
            file = archive.open(_member(names, member, outer))
        elif _is_tar(local):
            tar = stack.enter_context(tarfile.open(local))
            names = [entry.name for entry in tar if entry.isreg()]
            file = tar.extractfile(_member(names, member, outer))
        else:
            if member is not None:
                raise ConfigurationError(f"{outer} is neither a zip nor a tar file: {path}")
            file = stack.enter_context(open(local, "rb"))
            if file.peek(3)[:3] == b"BZh":
                file = stack.enter_context(bz2.open(file))
        yield file


def _split_member(path: str) -> tuple[str, str | None]:
    """Returns the file that a path names, and the member in it."""
    match = _MEMBER.fullmatch(path)
    return (match[1], match[2]) if match else (path, None)


def _is_tar(path: str) -> bool:
    # A compressed file that is cut is refused when its lines are read.
    with contextlib.suppress(EOFError, OSError, lzma.LZMAError, zlib.error):
        return tarfile.is_tarfile(path)
    return False


def _member(names: list[str], member: str | None, archive: str) -> str:
    """Returns the name of the file to read in an archive. Files that macOS adds do not count."""
    names = [
        name
        for name in names
        if not (name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("."))
    ]
    members = names if member is None else [name for name in names if name == member]
    if len(members) != 1:
        raise ConfigurationError(
            f"{archive} has the files {listed(names)}: name one, such as "
            f"({archive})#{(names or ['vectors.txt'])[0]}"
        )
    return members[0]
