import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.odd_lines import warn_of_odd_lines
from elmo_tasks.common.records import ROWS, check_no_number, kind_of, records_in
from elmo_tasks.common.text import listed
from elmo_tasks.common.text_files import at_line, corpus_files, open_bytes
from elmo_tasks.elmo.sentences import tokens_of

Split = Callable[[str], Iterable[str]]

# The columns, or fields of JSON, that are read if the user names none.
_COLUMNS = ("sentence", "text")


class Origin(NamedTuple):
    """
    # Parameters

    line: The number of the line at which the record begins, from 1.
    row: The index of the record in its file, from 0.
    """

    file: str
    line: int
    row: int


class Corpus:
    """
    Reads a text line by line, in bounded memory, anew at each iteration. A file has a sentence on
    each line, or in each record of a table or of JSON lines. The sentence is a text or a list of
    tokens. Without `split`, a text consists of tokens with a blank between them.

    # Parameters

    patterns: Paths, glob patterns, and addresses of any kind that fsspec knows, in the order of
        reading. The files of a pattern are sorted by name; files at `https://` are fetched first.
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
        # Where the sentence that was read last stands.
        self.origin = Origin("", 0, 0)
        self._column = column
        self._split = split
        self._warned_paths: set[str] = set()

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{self.files[0]}{more}"

    def __iter__(self) -> Iterator[str]:
        """
        Yields the lines. Meanwhile, `share_read` is the share of all bytes that have been read.

        # Raises

        `ValueError`: A line or row cannot be read, or a file is damaged; the message names file and
            line.
        `ConfigurationError`: There is no line, a file has no such column, or a file has CoNLL's
            columns (one token a line).
        """
        return (sentence for sentence in self._read() if sentence is not None)

    def documents(self) -> Iterator[list[str]]:
        """
        Yields the tokens of each line. With `split`, yields the tokens of each sentence that has
        tokens, and an empty list where a document ends: at an empty line, and after each row and
        file. Raises the same errors as iteration.
        """
        if self._split is None:
            yield from map(str.split, self)
            return
        for sentence in self._read():
            tokens = [] if sentence is None else sentence.split()
            if tokens or sentence is None:
                yield tokens

    def _read(self) -> Iterator[str | None]:
        """Yields the lines or their sentences, and `None` where a document ends."""
        sizes = list(map(_size, self.files))
        total, before = max(1, sum(sizes)), 0
        is_empty = True
        for file, size in zip(self.files, sizes):
            with open_bytes(file) as raw:
                is_row = kind_of(file) != "text"
                for line in warn_of_odd_lines(
                    self._lines(file, raw), file, self._warned_paths, self._split is None
                ):
                    self.share_read = (before + min(size, raw.tell())) / total
                    for sentence in [line] if self._split is None else self._split(line):
                        is_empty = False
                        yield sentence
                    if is_row or not line:
                        yield None
            before += size
            yield None
        self.share_read = 1.0
        if is_empty:
            raise ConfigurationError(f"{self} is empty: it has no line")

    def _lines(self, file: str, raw: BinaryIO) -> Iterator[str]:
        kind = kind_of(file)
        if kind in ("columns", "conllu"):
            raise ConfigurationError(
                f"{file} is in columns: write each sentence on a line, with a blank between tokens"
            )
        if kind == "text" and self._column is not None:
            raise ConfigurationError(
                f"{file} is neither a table (.csv, .tsv, .parquet or .xlsx) nor JSON lines, so it "
                f"has no column {self._column}"
            )
        columns = _COLUMNS if self._column is None else (self._column,)
        for row, record in enumerate(records_in(raw, file, kind, only=columns)):
            self.origin = Origin(file, record.line, row)
            if kind == "text":
                yield record.values["text"].strip()
                continue
            if kind in ROWS and record.values.keys().isdisjoint(columns):
                raise ConfigurationError(
                    f"{file}: there is no column {' or '.join(columns)}; choose one of "
                    f"{listed(record.values)}"
                )
            if row == 0 and self._column is None:
                check_no_number(record, columns[:1])
            with at_line(file, record.line):
                text = _text(record.values, columns)
            yield text


def _size(file: str) -> int:
    with open_bytes(file) as raw:
        return raw.seek(0, os.SEEK_END)


def _text(values: dict[str, Any], columns: Sequence[str]) -> str:
    name = next((name for name in columns if name in values), None)
    if name is None:
        raise ValueError(f"the JSON object has no field {' or '.join(columns)}")
    value = values[name]
    words = tokens_of(value, name=f"the {name}")
    # A line is cut at white space of any kind.
    if bad := [word for word in words if len(word.split()) != 1]:
        raise ValueError(f"{bad[0]!r} is not a token, because it has white space")
    return " ".join(words)
