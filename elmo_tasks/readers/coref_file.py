"""Reads documents with coreference from files in columns or JSON lines."""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.common.columns import (
    CONLL_2012,
    NAME_COLUMNS,
    check_indices,
    sentence_columns,
    with_advice,
)
from elmo_tasks.common.records import kind_of
from elmo_tasks.common.text_files import at_line, numbered_lines, read_lines
from elmo_tasks.readers.coref_json import Span, read_json_lines

logger = logging.getLogger(__name__)

_BEGIN = re.compile(r"#begin document \(?(.*?)\)?(?:; part \d+)?")
_EXAMPLE = "#begin document (NAME); part 000"
_END = "#end document"

# The value of the column `coreference` at tokens where no mention begins or ends.
_NO_MENTION = "-"

# A mention in the column `coreference`: the number of its cluster, with one or two brackets.
_BRACKET = re.compile(r"(\()?([^()|]+)(\))?")


class CorefDocument(NamedTuple):
    """
    A document, or a part of one, with its mentions.

    # Parameters

    name: The name in the line `#begin document`, such as `bc/cctv/00/cctv_0000`.
    sentences: At least one sentence, each of at least one word.
    speakers: The speaker of each word; empty strings if the file has no such column.
    clusters: The spans of each cluster's mentions in the order of their ends. A cluster may
        consist of a single mention, mentions may cross, and two clusters may have the same span.
    """

    name: str
    sentences: list[list[str]]
    speakers: list[str]
    clusters: list[list[Span]]


def read_coref(
    file_path: str | os.PathLike, columns: Sequence[str] = CONLL_2012
) -> Iterator[CorefDocument]:
    """
    Yields the documents of a file in the format of CoNLL-2012, or of JSON lines (see
    `read_json_lines`) if the first line is an object. A document begins with a line `#begin
    document (NAME); part 000` and ends with a line `#end document`. If the end line is missing, the
    document ends before the next document or with the file, and this is logged. Each token has a
    line of columns, and an empty line ends a sentence (see `sentence_columns`). The file is not
    held in memory.

    The column `coreference` has `(0` where a mention of cluster 0 begins, `0)` where it ends, `(0)`
    at a mention of one token, `|` between several such marks, and `-` at all other tokens.

    # Parameters

    columns: Names of all columns, of which `word`, `coreference` and, if it is there, `speaker` are
        read.

    # Raises

    `ValueError`, with file and line: A document lacks its first line, or is empty; a line
        has another number of columns; the column `index` does not count the tokens of a sentence;
        the bracket of a mention is unbalanced within its sentence; or a cluster has a mention
        twice.
    """
    first = next((line for line in read_lines(file_path) if line.strip()), "")
    if kind_of(file_path, first) == "json":
        yield from (CorefDocument(**fields) for fields in read_json_lines(file_path))
        return
    has_document = False
    for document in _documents(file_path):
        has_document = True
        yield _parse_document(file_path, document, columns)
    if not has_document:
        raise ValueError(f"{file_path}:1: there is no document: expected {_EXAMPLE!r}")


class _Lines(NamedTuple):
    """
    The numbered lines of a document, the name in its first line, and the number of its first line.
    """

    start: int
    name: str
    lines: list[tuple[int, str]]


def _documents(file_path: str | os.PathLike) -> Iterator[_Lines]:
    document: _Lines | None = None
    without_end: list[int] = []
    for number, line in numbered_lines(file_path):
        if line.startswith("#begin document") or document is None and line.strip():
            match = _BEGIN.fullmatch(line.strip())
            if match is None:
                with at_line(file_path, number):
                    raise ValueError(f"expected {_EXAMPLE!r}, but got {line!r:.80}")
            if document is not None:
                without_end.append(document.start)
                yield document
            document = _Lines(number, match[1], [])
        elif document is not None and line.startswith(_END):
            yield document
            document = None
        elif document is not None:
            document.lines.append((number, line))
    if document is not None:
        without_end.append(document.start)
        yield document
    if without_end:
        message = (
            "%s: %d documents have no line %r, the first is the document of line %d: they end "
            "before the next document or with the file; is the file whole?"
        )
        logger.warning(message, file_path, len(without_end), _END, without_end[0])


def _parse_document(
    file_path: str | os.PathLike, document: _Lines, columns: Sequence[str]
) -> CorefDocument:
    sentences: list[list[str]] = []
    speakers: list[str] = []
    clusters: dict[str, list[Span]] = {}
    lines = iter(document.lines)
    advice = f"{NAME_COLUMNS} ['index', 'word', 'coreference']"
    parsed = sentence_columns(lines, str(file_path), "columns", columns)
    for line, values, _ in with_advice(parsed, advice):
        check_indices(file_path, line, values.get("index", ()))
        # The open mentions of each cluster: the index of the first word, and its line.
        open_mentions: dict[str, list[tuple[int, int]]] = {}
        for row, value in enumerate(values["coreference"]):
            if value != _NO_MENTION:
                with at_line(file_path, line + row):
                    _add_mentions(clusters, open_mentions, value, len(speakers) + row, line + row)
        for cluster, starts in open_mentions.items():
            for _, begin in starts:
                with at_line(file_path, begin):
                    raise ValueError(
                        f"the bracket '({cluster:.80}' is not closed within the sentence"
                    )
        sentences.append(values["word"])
        speakers += values.get("speaker", [""] * len(values["word"]))
    if not sentences:
        raise ValueError(
            f"{file_path}:{document.start}: the document {document.name:.80} has no sentence"
        )
    return CorefDocument(document.name, sentences, speakers, list(clusters.values()))


def _add_mentions(
    clusters: dict[str, list[Span]],
    open_mentions: dict[str, list[tuple[int, int]]],
    value: str,
    word: int,
    line: int,
) -> None:
    """
    Adds the mentions that end at a word to their clusters, and the mentions that begin there to
    `open_mentions`.
    """
    for bracket in value.split("|"):
        match = _BRACKET.fullmatch(bracket)
        if match is None or not (match[1] or match[3]):
            raise ValueError(
                f"the column coreference cannot be {value!r:.80}: expected - or a bracket such as "
                "'(0)', '(0' and '0)', or several with | between them; 0 names a cluster"
            )
        opens, cluster, closes = match.groups()
        if opens:
            clusters.setdefault(cluster, [])
            open_mentions.setdefault(cluster, []).append((word, line))
        if not closes:
            continue
        if not open_mentions.get(cluster):
            raise ValueError(
                f"{value!r:.80} closes {cluster:.80}, which is not open in the sentence"
            )
        span = open_mentions[cluster].pop()[0], word + 1
        if span in clusters[cluster]:
            raise ValueError(f"the cluster {cluster:.80} has the mention that ends here twice")
        clusters[cluster].append(span)
