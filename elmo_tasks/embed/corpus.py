import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from elmo_tasks.common.addresses import open_at
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.tables import COMPRESSED
from elmo_tasks.common.text_files import corpus_files
from elmo_tasks.embed.corpus_lines import (
    Line,
    json_line,
    parquet_lines,
    table_lines,
    text_lines,
)
from elmo_tasks.embed.raw_text import RawTextHint

Split = Callable[[str], Iterable[str]]


class Corpus:
    """
    Reads a text line by line, in bounded memory, as often as it is iterated over. The suffix of a
    file tells its format. Tables with a header (`.csv`, `.tsv`), JSON lines (`.jsonl`) and Parquet
    (`.parquet`) have a sentence in each row; other files have a sentence on each line. All but
    Parquet may be compressed by gzip, xz or bzip2. A field may be a text or a list of tokens.

    # Parameters

    patterns: Paths, glob patterns, and addresses of any kind that fsspec knows. Their files are
        read in this order; the files of one pattern are sorted by name. Files at `http://` and
        `https://`, and tables at any address, are fetched before they are read.
    column: The column or field that has the sentences, by default `sentence` or `text`.
    split: Cuts a line of raw text into tokenized sentences. Each sentence counts as a line.

    # Raises

    `FileNotFoundError`: There is no such file.
    """

    def __init__(
        self,
        patterns: Iterable[str | os.PathLike],
        column: str | None = None,
        split: Split | None = None,
    ) -> None:
        self.files = list(chain.from_iterable(map(corpus_files, patterns)))
        self.share_read = 0.0
        self._column = column
        self._split = split
        self._hint = RawTextHint()

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{self.files[0]}{more}"

    def __iter__(self) -> Iterator[Line]:
        """
        Yields the lines. Meanwhile `share_read` is the share of the files' bytes read so far.

        # Raises

        `ValueError`: A file is damaged, or a row of a table has more or fewer fields than its
            header; the message names file and line.
        `ConfigurationError`: A file has no such column, or has CoNLL's columns (one token a line).
        """
        sizes = list(map(_size, self.files))
        total, before = max(1, sum(sizes)), 0
        for file, size in zip(self.files, sizes):
            with _opened(file) as raw:
                for line in self._lines(file, raw):
                    self.share_read = (before + min(size, raw.tell())) / total
                    yield from self._sentences(line)
            before += size
        self.share_read = 1.0
        if self._split is None:
            self._hint.end()

    def texts(self) -> Iterator[str]:
        """Yields the text of each line. Raises `ValueError` at a line that cannot be read."""
        for line in self:
            if line.fault is not None:
                raise ValueError(f"{line.file}:{line.number}: {line.fault}")
            yield line.text

    def _sentences(self, line: Line) -> Iterator[Line]:
        if self._split is None or line.fault is not None:
            self._hint.look(line.text)
            yield line
        else:
            yield from (line._replace(text=sentence) for sentence in self._split(line.text))

    def _lines(self, file: str, raw: BinaryIO) -> Iterator[Line]:
        kind = _kind(file)
        if kind == ".parquet":
            return parquet_lines(file, raw, self._column)
        if kind in (".csv", ".tsv"):
            return table_lines(file, self._column)
        lines = text_lines(file, raw)
        if kind in (".jsonl", ".ndjson"):
            return (json_line(line, self._column) for line in lines)
        if kind.startswith(".conll"):
            raise ConfigurationError(
                f"{file} is in columns: write each sentence on a line, with a blank between tokens"
            )
        if self._column is not None:
            raise ConfigurationError(
                f"{file} is not a table (.csv or .tsv), JSON lines or Parquet, so it has no column "
                f"{self._column}"
            )
        return (line._replace(text=line.text.strip()) for line in lines)


def _size(file: str) -> int:
    with _opened(file) as raw:
        return raw.seek(0, os.SEEK_END)


def _opened(file: str) -> BinaryIO:
    return open_at(file) or open(local_path(file), "rb")


def _kind(file: str) -> str:
    stem, suffix = os.path.splitext(file)
    return os.path.splitext(stem)[1] if suffix in COMPRESSED else suffix
