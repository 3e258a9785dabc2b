"""
Reads files in columns, with a token on each line, such as those of CoNLL-2003, CoNLL-2012 and
CoNLL-U.
"""

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar

from elmo_tasks.common.column_layout import CONLLU, IN_LINE, ROLES, Layout, may_be_comment
from elmo_tasks.common.column_layout import is_document as is_document
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.layout_detection import layout_of
from elmo_tasks.common.span_tags import usual_tags
from elmo_tasks.common.text_files import at_line, numbered_lines

logger = logging.getLogger(__name__)

# The columns of the files `*.gold_conll` of CoNLL-2012.
CONLL_2012 = (
    "document part index word pos parse lemma predicate sense speaker entity roles coreference"
).split()

# How to read a file with other columns.
NAME_COLUMNS = (
    "set `columns` of the dataset_reader to the names of all columns of the file, such as"
)

_T = TypeVar("_T")

# The share of the lines of a file in columns that have as many values.
_MOST = 0.9

# What the skeletons of CoNLL-2012, `*_skel`, have in place of each word.
_NO_WORD = "[WORD]"

# The number of lines that tell how the columns of a file are laid out.
HEAD = 5_000


def check_columns(columns: Sequence[str], names: Sequence[str]) -> None:
    """Raises `ConfigurationError` unless each of `names` occurs exactly once in `columns`."""
    for name in names:
        if columns.count(name) != 1:
            raise ConfigurationError(
                f"the columns must have {name!r} exactly once, but are {', '.join(columns)}"
            )


def check_indices(path: str | os.PathLike, line: int, indices: Sequence[str]) -> None:
    """
    Raises `ValueError` with file and line unless the column `index` of a sentence counts its tokens
    from 0 or 1. The sentence begins at `line`.
    """
    for row, index in enumerate(indices):
        expected = [str(int(indices[row - 1]) + 1)] if row else ["0", "1"]
        with at_line(path, line + row):
            if index not in expected:
                raise ValueError(
                    f"expected the index {' or '.join(expected)} of a token in its sentence, but "
                    f"got {index!r:.80}; a sentence ends with an empty line"
                )


def read_head(
    path: str | os.PathLike, columns: Sequence[str] | None = None
) -> tuple[Layout, list[list[str]]]:
    """
    Returns the layout of a file, and the values of the tokens on its first lines. Returns no values
    if the layout lacks one of the `columns`, or if more than a tenth of the tokens have too many or
    too few values for the layout.
    """
    lines = [line for _, line in islice(numbered_lines(path), HEAD)]
    layout = layout_of(lines, columns)
    lines = [line for line in lines if line.strip() and not may_be_comment(line)]
    lines = [line for line in lines if not is_document(line) and line != layout.header]
    rows = [row for line in lines for row in layout.rows(line)]
    fitting = [row for row in rows if len(row) == len(layout.columns)]
    fits = len(fitting) >= _MOST * len(rows) and set(columns or ()) <= set(layout.columns)
    return layout, fitting if fits else []


def has_span_tags(path: str | os.PathLike) -> bool:
    """
    Returns whether a file has columns of words and of tags that mark spans: tags such as `B-LOC`,
    or tags such as `LOC` if most words have the tag `O`, or `O` alone.
    """
    layout, rows = read_head(path)
    if not rows or "word" not in layout.names:
        return False
    index = len(layout.columns) - 1
    if "tag" in layout.columns:
        index = layout.columns.index("tag")
    tags = Counter(row[index] for row in rows)
    usual = usual_tags(tags)
    if any("-" in tag for tag in usual.values()):
        return tags.keys() <= usual.keys()
    return 2 * tags["O"] >= len(rows) and len(tags) <= len(rows) / 3


def with_advice(records: Iterator[_T], advice: str) -> Iterator[_T]:
    """Yields records. If the first record cannot be read, the error ends with the advice."""
    try:
        first = next(records, None)
    except ValueError as error:
        if isinstance(error.__cause__, UnicodeError):
            raise
        raise ValueError(f"{error}; {advice}") from error
    if first is not None:
        yield first
        yield from records


def sentence_columns(
    lines: Iterator[tuple[int, str]], name: str, kind: str, columns: Sequence[str] | None = None
) -> Iterator[tuple[int, dict[str, list[Any]], list[int]]]:
    """
    Yields for each sentence the line number of its first token, the values of its tokens by column,
    and the line number of each token. Each of the numbered `lines` has one token. An empty line, or
    the beginning or end of a document (see `is_document`), ends a sentence. The first lines show
    which character separates the columns, and whether there are a header, an index or comments (see
    `Layout`). Comments are counted in the log. CoNLL-U (`kind` `conllu`) has tabs between its
    columns; its comments, the ranges of multiword tokens and empty nodes are left out.

    The columns of CoNLL-U are fixed. In other files, columns have by default the names in the
    header; without a header, they are `word`, `column_2`, `column_3`, ..., `tag`. A value of the
    column `roles` is a list. Raises `ValueError` with file (`name`) and line if a line has another
    number of columns or no word.
    """
    head = list(islice(lines, HEAD))
    layout = _layout(head, kind, columns)
    missing = [name for name in columns or () if name not in layout.columns]
    if missing and kind != "conllu":
        source = "header names" if layout.header else "content shows"
        raise ConfigurationError(
            f"{name}: the {source} the columns {' '.join(layout.names)}, but not "
            f"{' '.join(missing)}: expected {' '.join(columns or ())}"
        )
    comments: list[tuple[int, str]] = []
    tokens = _numbered_tokens(chain(head, lines), name, layout, comments)
    for sentence in _sentences(tokens, layout):
        numbers, rows = zip(*sentence)
        values = zip(*rows)
        by_column = dict(zip(layout.columns, map(list, values)))
        yield numbers[0], {name: by_column[name] for name in layout.names}, list(numbers)
    if comments and kind != "conllu":
        number, line = comments[0]
        warn_once(
            f"{name}: {len(comments):,} lines that begin with # are comments and left out, the "
            f"first in line {number}: {line[:80]!r}"
        )


def layout_of_file(
    path: str | os.PathLike, kind: str, columns: Sequence[str] | None = None
) -> Layout:
    """Returns the layout by which `sentence_columns` reads a file."""
    return _layout(islice(numbered_lines(path), HEAD), kind, columns)


def _layout(
    head: Iterable[tuple[int, str]], kind: str, columns: Sequence[str] | None = None
) -> Layout:
    if kind == "conllu":
        return Layout("\t", CONLLU, counter=0)
    return layout_of([line for _, line in head], columns)


@cache
def warn_once(message: str) -> None:
    """Logs a message about something odd in a file, only once for each file."""
    logger.warning("%s", message)


_Token = tuple[int, list[Any]]


def _numbered_tokens(
    lines: Iterator[tuple[int, str]], name: str, layout: Layout, comments: list[tuple[int, str]]
) -> Iterator[_Token | None]:
    """
    Yields the line number and the values of each token, and `None` at the end of a sentence. Adds
    comments to the list `comments`.
    """
    is_within = False
    for number, line in lines:
        if layout.header and line == layout.header:
            continue
        with at_line(name, number):
            is_comment = layout.is_comment(line, is_within)
        if is_comment:
            comments.append((number, line))
        elif not line.strip() or is_document(line):
            is_within = False
            yield None
        elif layout.separator == IN_LINE:
            for row in layout.rows(line):
                with at_line(name, number):
                    yield number, _token_values(row, layout)
            yield None
        else:
            values = layout.values(line)
            if not any(map(str.strip, values)):
                is_within = False
                yield None
                continue
            with at_line(name, number):
                token = _token_values(values, layout)
            # The ids of a multiword token and of an empty node are `3-4` and `5.1`.
            if layout.counter is None or values[layout.counter].isdecimal():
                is_within = True
                yield number, token


def _sentences(tokens: Iterator[_Token | None], layout: Layout) -> Iterator[list[_Token]]:
    """
    Yields the tokens of each sentence. A new value in the column `sentence` begins a sentence.
    """
    sentence: list[_Token] = []
    name = None
    for token in chain(tokens, [None]):
        begins = token is None
        if token is not None and layout.sentence is not None:
            value = token[1][layout.sentence]
            begins = value not in ("", name)
            name = value or name
        elif token is not None and layout.counter is not None and layout.dropped and sentence:
            before, index = (row[layout.counter] for _, row in (sentence[-1], token))
            begins = index in ("0", "1") and int(index) != int(before) + 1
        if begins and sentence:
            yield sentence
            sentence = []
        if token is not None:
            sentence.append(token)


def _token_values(values: list[Any], layout: Layout) -> list[Any]:
    """
    Returns the values of a token, one for each column. The column `roles` gets a list of all values
    that no other column takes.
    """
    columns = layout.columns
    num_roles = len(values) - len(columns) + 1
    if ROLES not in columns:
        expected, is_wrong = str(len(columns)), num_roles != 1
    else:
        expected, is_wrong = f"at least {len(columns) - 1}", num_roles < 0
    if is_wrong:
        phrases = {"\t": ", separated by tabs", " ": "", IN_LINE: ", separated by a slash"}
        hint = "; remove the line if it is a comment" * "".join(values).startswith("#")
        raise ValueError(
            f"expected {expected} columns ({' '.join(columns)})"
            f"{phrases.get(layout.separator, f', separated by {layout.separator}')}, but got "
            f"{len(values)}: {' '.join(values)!r:.80}{hint}"
        )
    if ROLES in columns:
        start = columns.index(ROLES)
        stop = start + num_roles
        values = [*values[:start], values[start:stop], *values[stop:]]
    for name, value in zip(columns, values):
        if name == "word" and value == _NO_WORD:
            raise ValueError(
                f"a skeleton has {_NO_WORD} in place of the words: put the words of OntoNotes in "
                "with the script skeleton2conll of CoNLL-2012"
            )
        if name in ("word", "form") and not value.strip():
            raise ValueError(
                f"there is no word in the column {name}: {' '.join(values)!r:.80}; write it, or "
                "remove the line"
            )
    return values
