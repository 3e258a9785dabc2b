import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.readers.columns import (
    CONLL_2012,
    ROLES,
    check_columns,
    check_place,
    check_width,
    column_index,
    column_lines,
    part_of,
)

# The words `words[start:end]` of a document.
Span = tuple[int, int]

_BEGIN = re.compile(r"#begin document \(?(.*?)\)?(; part \d+)?")
_END = "#end document"

# The value of the column `coreference` at tokens where no mention begins or ends.
_NO_MENTION = "-"

# A mention in the column `coreference`: the number of its cluster, with one or two brackets.
_BRACKET = re.compile(r"(\()?([^()|]+)(\))?")


class CorefDocument(NamedTuple):
    """
    A document with its mentions.

    # Parameters

    line_number: The line of `#begin document`, from 1.
    name: The name in that line, such as `bc/cctv/00/cctv_0000`. Each part of a document counts as a
        document, with the same name.
    sentences: At least one sentence, each of at least one word.
    speakers: The speaker of each word; empty strings if the file has no such column.
    clusters: The clusters, each with the spans of its mentions in the order of their ends. A
        cluster may have only one mention, mentions may cross, and clusters may share a span.
    left_out: The line of each mention that was left out, and what is wrong with the mention.
    """

    line_number: int
    name: str
    sentences: list[list[str]]
    speakers: list[str]
    clusters: list[list[Span]]
    left_out: tuple[str, ...] = ()


def check_coref_columns(columns: Sequence[str]) -> None:
    """
    Raises `ConfigurationError` unless the columns have each needed name exactly once, and the
    optional ones at most once.
    """
    optional = [name for name in ("speaker", ROLES) if name in columns]
    check_columns(columns, ("word", "coreference", *optional))


def read_coref(
    file_path: str | os.PathLike, columns: Sequence[str] = CONLL_2012, skip_wrong: bool = False
) -> Iterator[CorefDocument]:
    """
    Yields the documents of a file in the format of CoNLL-2012. A document begins with a line
    `#begin document (NAME); part 000` and ends with a line `#end document`. It has one token on
    each line, and an empty line after each sentence. Any number of spaces and tabs separates two
    columns. The file is UTF-8, may be compressed by gzip or xz, and is not held in memory.

    The column `coreference` has `(0` where a mention of cluster 0 begins, `0)` where it ends, `(0)`
    at a mention of one token, `|` between several of these, and `-` at all other tokens.

    # Parameters

    file_path: A path or an address.
    columns: Names of all columns, in their order; by default those of CoNLL-2012. `word`,
        `coreference` and, if it is there, `speaker` are read. `roles` stands for any number of
        columns.
    skip_wrong (default `False`): Whether wrong mentions are left out: mentions with a bracket that
        is unbalanced within its sentence, and mentions that their cluster has already.

    # Raises

    `ValueError`: The file has no document; a document is empty or does not end; a line is outside
        of the documents or has a wrong number of columns; a token's columns contradict its place
        (see `check_place`); or, without `skip_wrong`, a mention is wrong. The message names file
        and line.
    """
    document: _Parser | None = None
    found = False
    for line_number, line in column_lines(file_path):
        try:
            if line.startswith("#begin document"):
                if document is not None:
                    raise ValueError(f"{document.title} has no line {_END!r} before this line")
                document, found = _Parser(line_number, line.strip(), columns, skip_wrong), True
            elif line.startswith(_END):
                if document is None:
                    raise ValueError(f"{_END!r} stands outside of a document")
                yield document.end()
                document = None
            elif document is not None:
                document.add(line_number, re.findall(r"[^ \t]+", line))
            elif line.strip():
                raise ValueError(
                    f"expected a line such as '#begin document (NAME); part 000' before "
                    f"{line!r:.80}"
                )
        except _LineError as error:
            raise ValueError(f"{file_path}:{error.line_number}: {error}") from error
        except ValueError as error:
            raise ValueError(f"{file_path}:{line_number}: {error}") from error
    if document is not None:
        raise ValueError(f"{file_path}:{document.line_number}: {document.title} has no {_END!r}")
    if not found:
        raise ValueError(
            f"{file_path}:1: there is no document: expected '#begin document (NAME); part 000'"
        )


class _LineError(ValueError):
    """
    An error in a line with the given number. The line may be before the line that is being read.
    """

    def __init__(self, line_number: int, reason: str) -> None:
        super().__init__(reason)
        self.line_number = line_number


class _Parser:
    """Collects the lines of one document."""

    def __init__(
        self, line_number: int, line: str, columns: Sequence[str], skip_wrong: bool
    ) -> None:
        match = _BEGIN.fullmatch(line)
        if match is None:
            raise ValueError(f"expected '#begin document (NAME); part 000', but got {line!r:.80}")
        self.line_number = line_number
        self.name = match[1]
        self.title = f"the document {self.name:.80}{match[2] or '':.20}"
        self._part = part_of(line)
        self._skip_wrong = skip_wrong
        self._left_out: list[str] = []
        self._columns = columns
        self._word = column_index(columns, "word")
        self._coreference = column_index(columns, "coreference")
        self._speaker = column_index(columns, "speaker") if "speaker" in columns else None
        self._sentences: list[list[str]] = []
        self._speakers: list[str] = []
        # The values of the token before, or `None` at the beginning of a sentence.
        self._before: list[str] | None = None
        self._clusters: dict[str, list[Span]] = {}
        # The open mentions of each cluster: the index of the first word, and its line.
        self._open: dict[str, list[tuple[int, int]]] = {}

    def add(self, line_number: int, values: list[str]) -> None:
        """Adds a token, or ends a sentence if there are no values."""
        if not values:
            self._end_sentence()
            return
        check_width(values, self._columns)
        check_place(values, self._before, self._part, self._columns)
        if self._before is None:
            self._sentences.append([])
        self._before = values
        self._sentences[-1].append(values[self._word])
        self._speakers.append("" if self._speaker is None else values[self._speaker])
        brackets = values[self._coreference]
        if brackets != _NO_MENTION:
            for bracket in brackets.split("|"):
                self._add_bracket(line_number, bracket, brackets)

    def end(self) -> CorefDocument:
        self._end_sentence()
        if not self._sentences:
            raise _LineError(self.line_number, f"{self.title} has no sentence")
        return CorefDocument(
            self.line_number,
            self.name,
            self._sentences,
            self._speakers,
            [spans for spans in self._clusters.values() if spans],
            tuple(self._left_out),
        )

    def _end_sentence(self) -> None:
        self._before = None
        for cluster, begun in self._open.items():
            for _, line_number in begun:
                self._refuse(
                    line_number, f"the bracket '({cluster:.80}' is not closed within the sentence"
                )
        self._open.clear()

    def _refuse(self, line_number: int, reason: str) -> None:
        """Leaves out a wrong mention with `skip_wrong`, and otherwise raises an error."""
        if not self._skip_wrong:
            raise _LineError(
                line_number,
                f"{reason}; the reader's wrong_mentions: 'skip' leaves such mentions out",
            )
        self._left_out.append(f"{line_number}: {reason}")

    def _add_bracket(self, line_number: int, bracket: str, value: str) -> None:
        match = _BRACKET.fullmatch(bracket)
        if match is None or not (match[1] or match[3]):
            raise ValueError(
                f"the column coreference cannot be {value!r:.80}: expected - or a bracket such as "
                "'(0)', '(0' and '0)', or several with | between them; 0 names a cluster"
            )
        opens, cluster, closes = match.groups()
        word = len(self._speakers) - 1
        if opens:
            self._clusters.setdefault(cluster, [])
            self._open.setdefault(cluster, []).append((word, line_number))
        if closes:
            if not self._open.get(cluster):
                reason = f"{value!r:.80} closes {cluster:.80}, which is not open in the sentence"
                self._refuse(line_number, reason)
                return
            start, _ = self._open[cluster].pop()
            spans = self._clusters[cluster]
            if (start, word + 1) in spans:
                reason = f"the cluster {cluster:.80} has the mention that ends here twice"
                self._refuse(line_number, reason)
                return
            spans.append((start, word + 1))
