"""Reads the files of the tagger: columns, CoNLL-U, JSON and Parquet with tags or spans."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.common.columns import (
    CONLLU,
    NAME_COLUMNS,
    check_columns,
    sentence_columns,
    warn_once,
    with_advice,
)
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import Record, kind_of, read_records
from elmo_tasks.common.rows import LeftOut, complete_rows
from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.common.text_files import at_line, numbered_lines
from elmo_tasks.readers.tagged_json import (
    MisplacedSpan,
    Tokenize,
    annotations_of_task,
    tagged_words,
)


class TaggedSentence(NamedTuple):
    """
    A sentence of a file: the line, the word and the tag of each token. Spans in characters become
    tags in BIO.
    """

    lines: Sequence[int]
    words: list[str]
    tags: list[str]


def tagged_kind(path: str | os.PathLike) -> str:
    """Returns the kind of a file with tags: `json` (also for Parquet), `conllu` or `columns`."""
    kind = kind_of(path)
    if kind in ("json", "parquet", "xlsx"):
        return "json"
    return "conllu" if kind == "conllu" else "columns"


def column_sentences(
    path: str | os.PathLike, kind: str, column: str, columns: Sequence[str]
) -> Iterator[tuple[Record, TaggedSentence]]:
    """
    Yields the sentences of a file in columns, or of CoNLL-U. `columns` are the names of all columns
    of a file in columns.
    """
    word = "form" if kind == "conllu" else "word"
    if kind == "columns":
        check_columns(columns, (word, column))
    elif column not in CONLLU:
        nearest = nearest_or_all(column, CONLLU)
        raise ConfigurationError(f"CoNLL-U has no column {column}{nearest}")
    sentences = sentence_columns(numbered_lines(path), str(path), kind, columns)
    if kind == "columns":
        sentences = with_advice(sentences, f"{NAME_COLUMNS} {['word', column]}")
    for line, values, numbers in sentences:
        words, tags = values[word], values[column]
        if "" in tags:
            with at_line(path, numbers[tags.index("")]):
                raise ValueError(f"the word {words[tags.index('')]!r:.80} has no tag")
        record = Record(str(path), line, values)
        yield record, TaggedSentence(numbers, words, tags)


def json_sentences(
    path: str | os.PathLike, column: str, tokenize: Tokenize, left_out: LeftOut | None = None
) -> Iterator[tuple[Record, TaggedSentence]]:
    """
    Yields the records of JSON or Parquet. Records with a span that no tags can mark are left out,
    and so are tasks of Label Studio that nobody has annotated. The log counts these records, the
    tasks with several annotations, and the spans that lose blanks.
    """
    misplaced: list[tuple[int, MisplacedSpan]] = []
    with_blanks: list[tuple[int, str]] = []
    is_empty = True
    several: list[int] = []
    counts = LeftOut() if left_out is None else left_out
    for record in complete_rows(read_records(path), left_out=counts):
        annotations = annotations_of_task(record.values, column)
        if annotations == []:
            counts.add("without an annotation", record.line)
            continue
        if annotations is not None and len(annotations) > 1:
            several.append(record.line)
        with at_line(path, record.line):
            try:
                tagged = tagged_words(record.values, column, tokenize)
            except MisplacedSpan as error:
                misplaced.append((record.line, error))
                continue
        is_empty = False
        with_blanks += [(record.line, span) for span in tagged.with_blanks]
        numbers = [record.line] * len(tagged.words)
        yield record, TaggedSentence(numbers, tagged.words, tagged.tags)
    if left_out is None:
        counts.log(path)
    if misplaced:
        line, reason = misplaced[0]
        with at_line(path, line):
            if is_empty:
                raise reason
        warn_once(
            f"{path}: left out {len(misplaced):,} {'text' if len(misplaced) == 1 else 'texts'} "
            f"with spans that tags cannot mark, the first in line {line}: {reason}; mend the "
            "spans to keep them"
        )
    if several:
        warn_once(
            f"{path}: texts with several annotations, of which the first is read: "
            f"{len(several):,}, the first in line {several[0]}"
        )
    if with_blanks:
        line, span = with_blanks[0]
        warn_once(
            f"{path}: spans that lose the blanks at their ends: {len(with_blanks):,}, the "
            f"first in line {line}: {span!r:.80}"
        )
