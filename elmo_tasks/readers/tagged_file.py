"""Reads files of tagged tokens: CoNLL-U, JSON lines with tags or spans, and columns."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from allennlp.data.tokenizers import Token

from elmo_tasks.common.columns import CONLLU, check_columns
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import kind_of, read_records
from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.entities import Entity, write_tags


class TaggedSentence(NamedTuple):
    """
    A sentence of a file, with a word and a tag for each token. `line_number` is the line where it
    begins. Tags are in BIO if the file has spans, with their offsets in characters. `is_in_rows`
    says whether the file has a line for each token.
    """

    line_number: int
    words: list[str]
    tags: list[str]
    is_in_rows: bool = True


def read_tagged(
    path: str | os.PathLike,
    column: str,
    columns: Sequence[str],
    tokenize: Callable[[str], list[Token]],
    kind: str | None = None,
) -> Iterator[TaggedSentence]:
    """
    Yields the sentences of a file, which is read as a stream:

    - `.conllu`: CoNLL-U, without the ranges of multiword tokens and without empty nodes;
    - `.jsonl`, `.json`: an object on each line. It has the list `tokens`, and in the field `column`
      a tag for each token. Or it has a `text`, and in the field `column` spans in characters with
      an exclusive end: `{"start": ..., "end": ..., "label": ...}` or `[start, end, label]`;
    - any other file: columns, as `sentence_columns` reads them.

    `columns` names all columns of the last kind of file, `tokenize` cuts a `text` into tokens with
    offsets, and `kind` is `conllu`, `json` or `columns`, by default what the file's name says.
    Raises `ConfigurationError` if there is no such column, and `ValueError` with file and line if a
    line cannot be read, or a span does not begin and end with a token.
    """
    kind = kind or kind_of(path)
    if kind == "json":
        for record in read_records(path):
            with at_line(path, record.line):
                words, tags = _of_json(record.values, column, tokenize)
            yield TaggedSentence(record.line, words, tags, is_in_rows=False)
        return
    word = "form" if kind == "conllu" else "word"
    if kind != "conllu":
        kind = "columns"
        check_columns(columns, (word, column))
    elif column not in CONLLU:
        raise ConfigurationError(f"CoNLL-U has no column {column}{nearest_or_all(column, CONLLU)}")
    for record in read_records(path, kind, columns):
        yield TaggedSentence(record.line, record.values[word], record.values[column])


def _of_json(
    values: dict[str, Any], column: str, tokenize: Callable[[str], list[Token]]
) -> tuple[list[str], list[str]]:
    match values:
        case {"tokens": [*words]} if _are_words(words) and _are_words(values.get(column)):
            if len(words) != len(values[column]):
                raise ValueError(
                    f"there are {len(words)} tokens, but {len(values[column])} values of {column}"
                )
            return words, values[column]
        case {"text": str(text)} if isinstance(values.get(column), list):
            tokens = tokenize(text)
            spans = [_span(each, tokens, text) for each in values[column]]
            words = [token.ensure_text() for token in tokens]
            return words, _tags(sorted(spans, key=lambda span: span.start), words)
    raise ValueError(
        f'expected an object with "tokens" and "{column}", two lists of equal length, or with '
        f'"text" and "{column}", a list of spans, but got {values!r:.200}'
    )


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) and word for word in value)


def _span(value: Any, tokens: list[Token], text: str) -> Entity:
    match value:
        case {"start": int(start), "end": int(end), "label": str(label)}:
            pass
        case [int(start), int(end), str(label)]:
            pass
        case _:
            raise ValueError(
                'expected a span as {"start": 0, "end": 4, "label": "NAME"} or [0, 4, "NAME"], but '
                f"got {value!r:.80}"
            )
    starts = {token.idx: index for index, token in enumerate(tokens)}
    ends = {token.idx_end: index + 1 for index, token in enumerate(tokens)}
    if start not in starts or end not in ends or start >= end:
        raise ValueError(
            f"the span {start} to {end}, {text[start:end]!r:.80}, does not begin and end with a "
            "token"
        )
    return Entity(label, starts[start], ends[end])


def _tags(spans: list[Entity], words: list[str]) -> list[str]:
    for one, other in zip(spans, spans[1:]):
        if other.start < one.end:
            raise ValueError(
                f"two spans overlap: {' '.join(words[one.start : one.end])!r:.80} and "
                f"{' '.join(words[other.start : other.end])!r:.80}"
            )
    return write_tags(spans, len(words), "BIO")
