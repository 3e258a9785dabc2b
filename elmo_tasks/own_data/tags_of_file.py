import os
import re
from collections.abc import Callable
from typing import NamedTuple

from allennlp.data.tokenizers import Token

from elmo_tasks.common.columns import CONLLU
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import kind_of, read_records
from elmo_tasks.common.spelling import nearest_or_all
from elmo_tasks.readers.tagged_file import read_tagged

_SPAN_TAG = re.compile(r"O|[BIESUL](-.+)?")
_KNOWN = "tags spans entities label labels upos pos ner".split()


class Tags(NamedTuple):
    """
    What `tag` reads of a file.

    # Parameters

    column: The column or field with the tags.
    columns: The names of all columns of a file in columns.
    spans: Whether the tags mark spans.
    """

    column: str
    columns: list[str] | None
    spans: bool


def choose_tags(
    path: str | os.PathLike, column: str | None, tokenize: Callable[[str], list[Token]]
) -> Tags:
    """
    Finds the tags of a file. Unless `column` is given, they are in the column `upos` of CoNLL-U, in
    the field with tags or spans of JSON lines, or in the last column of other files. The tags mark
    spans if each is O, or is B, I, E, S, U or L, alone or with a type.

    # Raises

    `ConfigurationError`: The file has no tags, or no such column.
    """
    kind = kind_of(path)
    columns = None
    if kind == "conllu":
        column = column or "upos"
        if column not in CONLLU:
            raise ConfigurationError(
                f"{path} has no column {column}{nearest_or_all(column, CONLLU)}"
            )
    elif kind == "json":
        column = column or _field(path)
    else:
        columns = _columns(path)
        if column is not None and column not in columns:
            raise ConfigurationError(
                f"{path} has no column {column}{nearest_or_all(column, columns)}"
            )
        column = column or columns[-1]
    tags = {tag for each in read_tagged(path, column, columns or (), tokenize) for tag in each.tags}
    if not tags:
        raise ConfigurationError(f"{path} has no token")
    return Tags(column, columns, all(map(_SPAN_TAG.fullmatch, tags)) and len(tags) > 1)


def _field(path: str | os.PathLike) -> str:
    for record in read_records(path):
        lists = [name for name, value in record.values.items() if isinstance(value, list)]
        fitting = [name for name in lists if name != "tokens"]
        if fitting:
            return next((name for name in _KNOWN if name in fitting), fitting[0])
    raise ConfigurationError(f"{path} has no field with a list of tags or spans")


def _columns(path: str | os.PathLike) -> list[str]:
    for record in read_records(path, "columns"):
        if len(record.values) < 2:
            raise ConfigurationError(
                f"{path} has one column: expected a word and its tag on each line"
            )
        return list(record.values)
    raise ConfigurationError(f"{path} has no token")
