import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.common.columns import CONLL_2012, sentence_columns
from elmo_tasks.common.text_files import at_line, numbered_lines

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
    Yields the documents of a file in the format of CoNLL-2012. A document begins with a line
    `#begin document (NAME); part 000` and ends with a line `#end document`; between them, the
    columns are read as `sentence_columns` says. The file is not held in memory.

    The column `coreference` has `(0` where a mention of cluster 0 begins, `0)` where it ends, `(0)`
    at a mention of one token, `|` between several of these, and `-` at all other tokens.

    # Parameters

    columns: Names of all columns, of which `word`, `coreference` and, if it is there, `speaker` are
        read.

    # Raises

    `ValueError`: There is no document, a document is empty or does not end, a line is outside of
        the documents or has another number of columns, or a mention is wrong: its bracket is
        unbalanced within its sentence, or its cluster has it already. The message names file and
        line.
    """
    found = False
    for document in _documents(file_path):
        found = True
        yield _parsed(file_path, document, columns)
    if not found:
        raise ValueError(
            f"{file_path}:1: there is no document: expected '#begin document (NAME); part 000'"
        )


class _Document(NamedTuple):
    line_number: int
    name: str
    title: str
    lines: list[tuple[int, str]]


def _documents(file_path: str | os.PathLike) -> Iterator[_Document]:
    document: _Document | None = None
    for number, line in numbered_lines(file_path):
        line = line.removeprefix("\ufeff")
        with at_line(file_path, number):
            if line.startswith("#begin document"):
                if document is not None:
                    raise ValueError(f"{document.title} has no line {_END!r} before this line")
                match = _BEGIN.fullmatch(line.strip())
                if match is None:
                    raise ValueError(
                        f"expected '#begin document (NAME); part 000', but got {line!r:.80}"
                    )
                title = f"the document {match[1]:.80}{match[2] or '':.20}"
                document = _Document(number, match[1], title, [])
            elif document is None:
                if line.startswith(_END):
                    raise ValueError(f"{_END!r} stands outside of a document")
                if line.strip():
                    raise ValueError(
                        "expected a line such as '#begin document (NAME); part 000' before "
                        f"{line!r:.80}"
                    )
            elif line.startswith(_END):
                yield document
                document = None
            else:
                document.lines.append((number, line))
    if document is not None:
        raise ValueError(f"{file_path}:{document.line_number}: {document.title} has no {_END!r}")


def _parsed(
    file_path: str | os.PathLike, document: _Document, columns: Sequence[str]
) -> CorefDocument:
    sentences: list[list[str]] = []
    speakers: list[str] = []
    clusters: dict[str, list[Span]] = {}
    lines = iter(document.lines)
    for line, values in sentence_columns(lines, str(file_path), "columns", columns):
        # The open mentions of each cluster: the index of the first word, and its line.
        begun: dict[str, list[tuple[int, int]]] = {}
        for row, value in enumerate(values["coreference"]):
            if value != _NO_MENTION:
                with at_line(file_path, line + row):
                    _add_mentions(clusters, begun, value, len(speakers) + row, line + row)
        for cluster, opened in begun.items():
            for _, begin in opened:
                with at_line(file_path, begin):
                    raise ValueError(
                        f"the bracket '({cluster:.80}' is not closed within the sentence"
                    )
        sentences.append(values["word"])
        speakers += values.get("speaker", [""] * len(values["word"]))
    if not sentences:
        raise ValueError(f"{file_path}:{document.line_number}: {document.title} has no sentence")
    found = list(clusters.values())
    return CorefDocument(document.name, sentences, speakers, found)


def _add_mentions(
    clusters: dict[str, list[Span]],
    begun: dict[str, list[tuple[int, int]]],
    value: str,
    word: int,
    line: int,
) -> None:
    """Adds the mentions that end at a word to their clusters, and those that begin to `begun`."""
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
            begun.setdefault(cluster, []).append((word, line))
        if not closes:
            continue
        if not begun.get(cluster):
            raise ValueError(
                f"{value!r:.80} closes {cluster:.80}, which is not open in the sentence"
            )
        span = begun[cluster].pop()[0], word + 1
        if span in clusters[cluster]:
            raise ValueError(f"the cluster {cluster:.80} has the mention that ends here twice")
        clusters[cluster].append(span)
