import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, NoReturn

from elmo_tasks.common.columns import CONLL_2012, ROLES
from elmo_tasks.common.records import Record, read_records
from elmo_tasks.readers.entities import Entity

# The value of the column `predicate` at tokens that are no predicate.
_NO_PREDICATE = "-"

# Brackets that open before the star, and brackets that close behind it.
_BRACKETS = re.compile(r"((?:\([^()*]+)*)\*((?:[^()*]*\))*)")


class Predicate(NamedTuple):
    """
    A predicate of a sentence.

    # Parameters

    position: The index of its token.
    arguments: The arguments in their order. They do not overlap. The role V is the predicate
        itself. A role that begins with `C-` continues an argument; a role that begins with `R-`
        refers to an argument.
    """

    position: int
    arguments: list[Entity]


class SrlSentence(NamedTuple):
    """
    A sentence with its predicates.

    # Parameters

    line_number: The line of the first token, from 1; the other tokens are on the lines after it.
    words: At least one word.
    predicates: The predicates in the order of their tokens; possibly none.
    """

    line_number: int
    words: list[str]
    predicates: list[Predicate]


def read_srl(
    file_path: str | os.PathLike, columns: Sequence[str] = CONLL_2012
) -> Iterator[SrlSentence]:
    """
    Yields the sentences of a file with semantic roles in columns, such as those of CoNLL-2012 and
    CoNLL-2005. The file is read as `sentence_columns` says, and it is not held in memory.

    The column of a predicate has a `*` for each token. `(ARG0` before the star begins an argument,
    and `)` behind the star ends it.

    # Parameters

    file_path: A path or an address.
    columns: Names of all columns, in their order; by default those of CoNLL-2012. Three are read:
        `word`; `predicate`, which is `-` unless the token is a predicate; and `roles`, which stands
        for one column for each predicate of the sentence, in the order of the predicates.

    # Raises

    `ValueError`: The file has no sentence or no predicate; a line has fewer or more columns than
        the first line of its sentence; a sentence has fewer or more columns of roles than
        predicates; or brackets are unbalanced or overlap. The message names file and line.
    """
    num_sentences = num_predicates = 0
    for record in read_records(file_path, "columns", columns):
        sentence = _sentence(record)
        num_sentences += 1
        num_predicates += len(sentence.predicates)
        yield sentence
    if num_sentences == 0:
        raise ValueError(f"{file_path}:1: there is no sentence: expected a token on each line")
    if num_predicates == 0:
        raise ValueError(
            f"{file_path}:1: there is no predicate: the column predicate is {_NO_PREDICATE} "
            "everywhere"
        )


def _sentence(record: Record) -> SrlSentence:
    words, predicates = record.values["word"], record.values["predicate"]
    rows: list[list[str]] = record.values[ROLES]
    for row, values in enumerate(rows):
        if len(values) != len(rows[0]):
            _refuse(
                record,
                row,
                f"expected {len(rows[0])} columns of roles, as on the first line of the sentence, "
                f"but got {len(values)}: {' '.join(values)!r:.80}",
            )
    tokens = [row for row, value in enumerate(predicates) if value != _NO_PREDICATE]
    roles = list(zip(*rows))
    if not tokens and all(set(column) == {"*"} for column in roles):
        # Some files have a column of roles even if a sentence has no predicate.
        roles = []
    if len(tokens) != len(roles):
        _refuse(
            record,
            tokens[-1] if tokens else 0,
            f"the sentence has {len(tokens)} predicates (tokens whose column predicate is not "
            f"{_NO_PREDICATE}), but {len(roles)} columns of roles; expected one for each predicate",
        )
    found = [Predicate(token, _spans(record, column)) for token, column in zip(tokens, roles)]
    return SrlSentence(record.line, words, found)


def _spans(record: Record, column: Iterable[str]) -> list[Entity]:
    """Returns the spans of a column of roles, whose values look like `(ARG0*`, `*` or `(V*)`."""
    spans: list[Entity] = []
    begun: Entity | None = None
    for row, value in enumerate(column):
        brackets = _BRACKETS.fullmatch(value)
        if brackets is None:
            _refuse(
                record,
                row,
                f"a column of roles cannot be {value!r:.80}: expected *, (ROLE*, *) or (ROLE*)",
            )
        for role in brackets[1].split("(")[1:]:
            if begun is not None:
                _refuse(
                    record,
                    row,
                    f"{value!r:.80} begins {role:.80} within {begun.type:.80}: the arguments "
                    "of a predicate must not overlap",
                )
            begun = Entity(role, row, row)
        for role in brackets[2].split(")")[:-1]:
            if begun is None or role not in ("", begun.type):
                _refuse(
                    record,
                    row,
                    f"{value!r:.80} closes {role or 'a bracket':.80}, which is not open",
                )
            spans.append(begun._replace(end=row + 1))
            begun = None
    if begun is not None:
        _refuse(
            record,
            begun.start,
            f"the bracket of {begun.type:.80} is not closed within the sentence",
        )
    return spans


def _refuse(record: Record, row: int, reason: str) -> NoReturn:
    raise ValueError(f"{record.file}:{record.line + row}: {reason}")
