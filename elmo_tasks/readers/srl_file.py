"""Reads sentences with semantic roles from files in columns."""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from elmo_tasks.common.columns import CONLL_2012, NAME_COLUMNS, ROLES, check_indices, with_advice
from elmo_tasks.common.records import Record, read_records
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.entities import Entity

logger = logging.getLogger(__name__)

# The value of the column `predicate` at tokens that are not predicates.
_NO_PREDICATE = "-"

# The columns of CoNLL-2005, if the words and the propositions are joined.
CONLL_2005 = ["word", "predicate", ROLES]

# Brackets that open before the star, and brackets that close behind it.
_BRACKETS = re.compile(r"((?:\([^()*]+)*)\*((?:[^()*]*\))*)")

# The role V may be elsewhere at this share of the predicates. On the English Web Treebank,
# PropBank has it elsewhere at 7 of 45,350 predicates.
_FEW = 0.1


class Predicate(NamedTuple):
    """
    A predicate of a sentence: the index of its token, and its arguments. The role V marks the
    predicate itself. A role with `C-` continues an argument, and a role with `R-` refers to an
    argument. `arguments` are in order and do not overlap. An argument inside another argument is in
    `nested`, where outer arguments come before inner ones.
    """

    position: int
    arguments: list[Entity]
    nested: tuple[Entity, ...] = ()


class SrlSentence(NamedTuple):
    """A sentence, and its predicates in the order of their tokens."""

    words: list[str]
    predicates: list[Predicate]


def read_srl(
    file_path: str | os.PathLike, columns: Sequence[str] = CONLL_2012
) -> Iterator[SrlSentence]:
    """
    Yields the sentences of a file with semantic roles in columns, such as those of CoNLL-2012 and
    CoNLL-2005. Each token has a line, and an empty line ends a sentence (see `sentence_columns`).
    The file is not held in memory.

    The column of a predicate has a `*` for each token. `(ARG0` before the star begins an argument,
    and `)` behind the star ends it. An argument may be within another one: `(ARG2(ARG1*))`. At the
    end, the number of such inner arguments is logged, and the number of predicates that their role
    V does not mark, if it is more than a few.

    # Parameters

    columns: Names of all columns. Three are read: `word`; `predicate`, which is `-` unless the
        token is a predicate; and `roles`, the name of all columns of roles: one for each predicate
        of the sentence, in the order of the predicates.

    # Raises

    `ValueError`, with file and line: There is no sentence or no predicate; a line has another
        number of columns; the column `index` does not count the tokens of a sentence; a sentence
        has more or fewer columns of roles than predicates; or brackets are unbalanced.
    """
    num_sentences = num_predicates = num_nested = num_astray = first = 0
    advice = f"{NAME_COLUMNS} {CONLL_2005} for CoNLL-2005"
    for record in with_advice(_records(file_path, columns), advice):
        sentence = _sentence(record)
        num_sentences += 1
        num_predicates += len(sentence.predicates)
        num_here = sum(len(predicate.nested) for predicate in sentence.predicates)
        num_astray += sum(map(_is_astray, sentence.predicates))
        first = first or (record.line if num_here else 0)
        num_nested += num_here
        yield sentence
    if num_nested:
        message = (
            "%s: %d arguments within other arguments are scored, but not learnt; the first is in "
            "the sentence of line %d"
        )
        logger.warning(message, file_path, num_nested, first)
    if num_astray > _FEW * num_predicates:
        message = "%s: %d predicates are not where their role V is; are the roles in order?"
        logger.warning(message, file_path, num_astray)
    if num_sentences == 0:
        raise ValueError(f"{file_path}:1: there is no sentence: expected a token on each line")
    if num_predicates == 0:
        raise ValueError(
            f"{file_path}:1: there is no predicate: the column predicate is {_NO_PREDICATE} "
            "everywhere"
        )


def _records(file_path: str | os.PathLike, columns: Sequence[str]) -> Iterator[Record]:
    """
    Yields the sentences. If the first sentence has other columns, the error says how to name
    columns.
    """
    for record in read_records(file_path, "columns", columns):
        check_indices(record.file, record.line, record.values.get("index", ()))
        yield record


def _sentence(record: Record) -> SrlSentence:
    words, predicates = record.values["word"], record.values["predicate"]
    rows: list[list[str]] = record.values[ROLES]
    for row, values in enumerate(rows):
        with at_line(record.file, record.line + row):
            if len(values) != len(rows[0]):
                raise ValueError(
                    f"expected {len(rows[0])} columns of roles, as on the first line of the "
                    f"sentence, but got {len(values)}: {' '.join(values)!r:.80}"
                )
    tokens = [row for row, value in enumerate(predicates) if value != _NO_PREDICATE]
    roles = list(zip(*rows))
    if not tokens and all(set(column) == {"*"} for column in roles):
        # Some files have a column of roles even if a sentence has no predicate.
        roles = []
    with at_line(record.file, record.line + (tokens[-1] if tokens else 0)):
        if len(tokens) != len(roles):
            raise ValueError(
                f"the sentence has {len(tokens)} predicates (tokens whose column predicate is not "
                f"{_NO_PREDICATE}), but {len(roles)} columns of roles; expected one for each "
                "predicate"
            )
    predicate_list = [
        Predicate(token, *_spans(record, column)) for token, column in zip(tokens, roles)
    ]
    return SrlSentence(words, predicate_list)


def _is_astray(predicate: Predicate) -> bool:
    """Returns whether the role V marks other tokens, but not the predicate's own."""
    marked = [span for span in (*predicate.arguments, *predicate.nested) if span.type == "V"]
    return bool(marked) and not any(span.start <= predicate.position < span.end for span in marked)


def _spans(record: Record, column: Iterable[str]) -> tuple[list[Entity], tuple[Entity, ...]]:
    """
    Returns the arguments in a column: first the outer ones, then those inside another argument.
    """
    spans: list[Entity] = []
    # The indices in `spans` of the arguments that are open, the outermost first.
    open_spans: list[int] = []
    nested: set[int] = set()
    for row, value in enumerate(column):
        with at_line(record.file, record.line + row):
            brackets = _BRACKETS.fullmatch(value)
            if brackets is None:
                raise ValueError(
                    f"a column of roles cannot be {value!r:.80}: expected *, (ROLE*, *) or (ROLE*)"
                )
            for role in brackets[1].split("(")[1:]:
                if open_spans:
                    nested.add(len(spans))
                open_spans.append(len(spans))
                spans.append(Entity(role, row, row))
            for role in brackets[2].split(")")[:-1]:
                if not open_spans or role not in ("", spans[open_spans[-1]].type):
                    name = role or "a bracket"
                    raise ValueError(f"{value!r:.80} closes {name:.80}, which is not open")
                index = open_spans.pop()
                spans[index] = spans[index]._replace(end=row + 1)
    if open_spans:
        role, start, _ = spans[open_spans[-1]]
        with at_line(record.file, record.line + start):
            raise ValueError(f"the bracket of {role:.80} is not closed within the sentence")
    outer = [span for index, span in enumerate(spans) if index not in nested]
    return outer, tuple(spans[index] for index in sorted(nested))
