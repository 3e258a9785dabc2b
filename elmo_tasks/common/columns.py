"""Files in columns, such as those of CoNLL-2003, CoNLL-2012 and CoNLL-U: a token on each line."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text_files import at_line

# The columns of CoNLL-U, and those of the files `*.gold_conll` of CoNLL-2012.
CONLLU = "id form lemma upos xpos feats head deprel deps misc".split()
CONLL_2012 = (
    "document part index word pos parse lemma predicate sense speaker entity roles coreference"
).split()

_VALUE = re.compile(r"[^ \t]+")

# The name that stands for several columns, one for each predicate of the sentence.
ROLES = "roles"

# The lines that begin or end a document in CoNLL-2003 and CoNLL-2012. They are in no sentence.
_DOCUMENT = re.compile(r"\s*(-DOCSTART-|#(begin|end)\s+document)(\s|$)")


def is_document(line: str) -> bool:
    """Returns whether a line begins or ends a document, and so is no token."""
    return _DOCUMENT.match(line) is not None


def check_columns(columns: Sequence[str], chosen: Sequence[str]) -> None:
    """Raises `ConfigurationError` unless the columns have each chosen name exactly once."""
    for name in chosen:
        if columns.count(name) != 1:
            raise ConfigurationError(
                f"the columns must have {name!r} exactly once, but are {', '.join(columns)}"
            )


def check_indices(path: str | os.PathLike, line: int, indices: Sequence[str]) -> None:
    """
    Raises `ValueError` with file and line unless the column `index` of a sentence, which begins at
    `line`, counts its tokens from 0 or 1.
    """
    for row, index in enumerate(indices):
        expected = [str(int(indices[row - 1]) + 1)] if row else ["0", "1"]
        with at_line(path, line + row):
            if index not in expected:
                raise ValueError(
                    f"expected the index {' or '.join(expected)} of a token in its sentence, but "
                    f"got {index!r:.80}; a sentence ends with an empty line"
                )


def sentence_columns(
    lines: Iterator[tuple[int, str]], name: str, kind: str, columns: Sequence[str] | None = None
) -> Iterator[tuple[int, dict[str, list[Any]]]]:
    """
    Yields for each sentence the line number of its first token, and the values of its tokens by
    column. Each of the numbered `lines` has one token. An empty line, or the beginning or end of a
    document (see `is_document`), ends a sentence. Spaces and tabs separate columns; other white
    space is part of a value. CoNLL-U (`kind` `conllu`) has tabs between its columns; comments, the
    ranges of multiword tokens and empty nodes are left out.

    The columns of CoNLL-U are fixed. Those of other files are by default `word`, `column_2`,
    `column_3`, ..., `tag`. A value of the column `roles` is a list. Raises `ValueError` with file
    (`name`) and line if a line has another number of columns, or begins with a byte order mark.
    """
    is_conllu = kind == "conllu"
    columns = CONLLU if is_conllu else columns
    tokens: list[list[Any]] = []
    start = 0
    for number, line in chain(lines, [(0, "")]):
        if line.startswith("\ufeff"):
            raise ValueError(
                f"{name}:{number}: the line begins with a byte order mark, which only the first "
                "line may have; remove it"
            )
        if is_conllu and line.startswith("#"):
            continue
        values = line.split("\t") if is_conllu else _VALUE.findall(line)
        if any(map(str.strip, values)) and not is_document(line):
            columns = columns or _unnamed(len(values))
            with at_line(name, number):
                token = _by_column(values, columns, is_conllu)
            # The ids of a multiword token and of an empty node are `3-4` and `5.1`.
            if not is_conllu or values[0].isdecimal():
                start = start or number
                tokens.append(token)
        elif tokens:
            yield start, dict(zip(columns or (), map(list, zip(*tokens))))
            tokens, start = [], 0


def _unnamed(number: int) -> list[str]:
    return ["word", *(f"column_{n}" for n in range(2, number)), "tag"][:number]


def _by_column(values: list[Any], columns: Sequence[str], with_tabs: bool) -> list[Any]:
    """
    Returns the values of a token, one for each column. The column `roles` gets a list of all values
    that no other column takes.
    """
    num_roles = len(values) - len(columns) + 1
    if ROLES not in columns:
        expected, is_wrong = str(len(columns)), num_roles != 1
    else:
        expected, is_wrong = f"at least {len(columns) - 1}", num_roles < 0
    if is_wrong:
        raise ValueError(
            f"expected {expected} columns ({' '.join(columns)})"
            f"{', separated by tabs' if with_tabs else ''}, but got {len(values)}: "
            f"{' '.join(values)!r:.80}"
        )
    if ROLES not in columns:
        return values
    start = columns.index(ROLES)
    stop = start + num_roles
    return [*values[:start], values[start:stop], *values[stop:]]
