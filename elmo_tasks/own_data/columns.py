"""Which columns of a user's file a training reads, by their names."""

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, NoReturn

from elmo_tasks.common.columns import CONLLU
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import TABLES, Record, kind_of, read_records
from elmo_tasks.common.spelling import nearest_or_all
from elmo_tasks.readers.tag import TagReader

# Pairs of column names, for the two texts of a row.
_PAIRS = [
    (f"{name}{one}", f"{name}{two}")
    for name in ("sentence", "text", "question", "text_", "sentence_")
    for one, two in (("1", "2"), ("a", "b"))
] + [("premise", "hypothesis"), ("first", "second"), ("question", "passage")]
_TEXTS = "text sentence review body content comment message document tweet title".split()
_LABELS = (
    "label labels class category sentiment topic target rating stars answer gold_label".split()
)

_SPAN_TAG = re.compile(r"O|[BIESUL](-.+)?")
_TAGS = "tags spans entities label labels upos pos ner".split()

# At most this many columns are shown with a value.
_SHOWN = 8


class Columns(NamedTuple):
    """
    The columns of a table that `classify` reads: one or two with texts, and that of the label.
    `separator` is between the labels of a text, if a text may have several.
    """

    texts: list[str]
    label: str
    separator: str | None


def choose_columns(
    records: Sequence[Record],
    texts: Sequence[str] | None = None,
    label: str | None = None,
    separator: str | None = None,
) -> Columns:
    """
    Returns the columns that have the texts and the labels. Columns that are not given are chosen by
    their names. If all columns but one are chosen, the other one is taken whatever its name.

    # Raises

    `ConfigurationError`: The name of no column is known, or a given column does not exist.
    """
    names = column_names(records)
    for name in (*(texts or ()), *([] if label is None else [label])):
        if name not in names:
            file = records[0].file
            raise ConfigurationError(f"{file} has no column {name}{nearest_or_all(name, names)}")
    left = [name for name in names if name != label and name not in (texts or ())]
    known = {name.lower(): name for name in left}
    pair = next((pair for pair in _PAIRS if set(pair) <= known.keys()), ())
    chosen = texts or [known[name] for name in pair or [n for n in _TEXTS if n in known][:1]]
    label = label or next(
        (known[n] for n in _LABELS if n in known and known[n] not in chosen), None
    )
    left = [name for name in left if name != label and name not in chosen]
    if not chosen and label and len(left) == 1:
        chosen = left
    elif chosen and label is None and len(left) == 1:
        (label,) = left
    if not chosen or label is None:
        _ask(records, "the labels with --label" if chosen else "the texts with --text")
    if any(isinstance(record.values.get(label), list) for record in records):
        # The labels of a list need no separator.
        separator = separator or ";"
    return Columns(list(chosen), label, separator)


def column_names(records: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record.values))


def _ask(records: Sequence[Record], what: str) -> NoReturn:
    first = records[0]
    shown = ", ".join(
        f"{name} ({str(value)[:30]!r})" for name, value in list(first.values.items())[:_SHOWN]
    )
    # The columns of a table without a header are named 1, 2, ....
    has_header = kind_of(first.file) in TABLES and "1" not in first.values
    hint = ", or give --no-header if its first line is a row" if has_header else ""
    raise ConfigurationError(f"{first.file}: name the column of {what}{hint}; there are {shown}")


def choose_tags(path: str | os.PathLike, column: str | None, language: str) -> TagReader:
    """
    Returns a reader of the tags of a file. Unless `column` is given, they are in the column `upos`
    of CoNLL-U, in the field with tags or spans of JSON lines, or in the last column of other files.
    The tags mark spans if each is O, or is B, I, E, S, U or L, alone or with a type.

    # Raises

    `ConfigurationError`: The file has no tags, or no such column.
    """
    kind = kind_of(path)
    columns = None
    if kind == "json":
        column = column or _field(path)
    else:
        columns = CONLLU if kind == "conllu" else _columns(path)
        if column is not None and column not in columns:
            raise ConfigurationError(
                f"{path} has no column {column}{nearest_or_all(column, columns)}"
            )
        column = column or ("upos" if kind == "conllu" else columns[-1])
        columns = None if kind == "conllu" else columns
    reader = TagReader(column, columns=columns, language=language)
    tags = {tag for sentence in reader.sentences(path) for tag in sentence.tags}
    if not tags:
        raise ConfigurationError(f"{path} has no token")
    reader.spans = len(tags) > 1 and all(map(_SPAN_TAG.fullmatch, tags))
    return reader


def _field(path: str | os.PathLike) -> str:
    for record in read_records(path):
        lists = [name for name, value in record.values.items() if isinstance(value, list)]
        fitting = [name for name in lists if name != "tokens"]
        if fitting:
            return next((name for name in _TAGS if name in fitting), fitting[0])
    raise ConfigurationError(f"{path} has no field with a list of tags or spans")


def _columns(path: str | os.PathLike) -> list[str]:
    names = list(next(read_records(path, "columns"), Record("", 0, {})).values)
    if len(names) < 2:
        found = "one column: expected a word and its tag on each line" if names else "no token"
        raise ConfigurationError(f"{path} has {found}")
    return names
