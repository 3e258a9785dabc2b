import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import read_records
from elmo_tasks.common.spelling import listed, nearest_or_all
from elmo_tasks.readers.classify import label_text

# Pairs of column names, for the two texts of a row.
_PAIRS = [
    (f"{name}{one}", f"{name}{two}")
    for name in ("sentence", "text", "question", "text_", "sentence_")
    for one, two in (("1", "2"), ("a", "b"))
] + [("premise", "hypothesis")]
_TEXTS = "text sentence review body content comment message document tweet title".split()
_LABELS = "label labels class category sentiment topic target rating stars".split()

# A column of labels has at most this many different values, or one for every three rows.
_MAX_LABELS = 100

# What may separate the labels of a text.
_SEPARATORS = (";", "|", ",")


class Columns(NamedTuple):
    """
    The columns of a table that `classify` reads.

    # Parameters

    texts: The names of one or two columns.
    separator: What separates the labels of a text, if a text may have several labels.
    """

    texts: list[str]
    label: str
    separator: str | None


def choose_columns(
    path: str | os.PathLike,
    texts: Sequence[str] | None = None,
    label: str | None = None,
    separator: str | None = None,
) -> Columns:
    """
    Returns the columns of a table, or of JSON lines, that have the texts and the labels. Columns
    that are not given are chosen by their names. If no name is known, the texts are in the column
    with the longest values, and the labels in the one with the fewest different values.

    # Raises

    `ConfigurationError`: No column seems to have texts, none seems to have labels, or a given
        column does not exist.
    """
    values: dict[str, list[Any]] = {}
    for record in read_records(path):
        for name, value in record.values.items():
            values.setdefault(name, []).append(value)
    for name in (*(texts or ()), *([] if label is None else [label])):
        if name not in values:
            raise ConfigurationError(f"{path} has no column {name}{nearest_or_all(name, values)}")
    chosen = list(texts or _text_columns(path, {k: v for k, v in values.items() if k != label}))
    label = label or _label_column(path, {k: v for k, v in values.items() if k not in chosen})
    return Columns(chosen, label, separator or _separator(values[label]))


def _text_columns(path: str | os.PathLike, values: dict[str, list[Any]]) -> list[str]:
    by_lower = {name.lower(): name for name in values}
    for pair in _PAIRS:
        if set(pair) <= by_lower.keys():
            return [by_lower[name] for name in pair]
    for known in _TEXTS:
        if known in by_lower and _mean_length(values[by_lower[known]]) > 0:
            return [by_lower[known]]
    lengths = {name: _mean_length(column) for name, column in values.items()}
    longest = max(lengths, key=lengths.__getitem__, default="")
    if lengths.get(longest, 0) == 0:
        raise ConfigurationError(
            f"{path}: no column seems to have texts; name it with --text, one of {listed(values)}"
        )
    return [longest]


def _mean_length(column: list[Any]) -> float:
    """Returns the mean number of characters, or 0 if any value is something other than text."""
    if not all(value is None or isinstance(value, str) for value in column):
        return 0
    return sum(len(value or "") for value in column) / len(column)


def _label_column(path: str | os.PathLike, values: dict[str, list[Any]]) -> str:
    numbers = {name: len(set(_single(column))) for name, column in values.items()}
    fitting = {
        name: number
        for name, number in numbers.items()
        if 1 < number <= max(_MAX_LABELS, len(values[name]) / 3)
    }
    for known in _LABELS:
        for name in fitting:
            if name.lower() == known:
                return name
    # A column of ids has as many different values as rows.
    fewest = [name for name, number in fitting.items() if 2 * number <= len(values[name])]
    if not fewest:
        raise ConfigurationError(
            f"{path}: no column seems to have labels; name it with --label, one of {listed(values)}"
        )
    return min(fewest, key=fitting.__getitem__)


def _single(column: list[Any]) -> Iterator[str]:
    """Yields each value as text. Yields the items of a list one by one."""
    for value in column:
        yield from map(label_text, value if isinstance(value, list) else [value])


def _separator(column: list[Any]) -> str | None:
    """
    Returns the separator of labels if a value may have several labels. If a value is a list, any
    separator will do.
    """
    if any(isinstance(value, list) for value in column):
        return _SEPARATORS[0]
    texts = [label_text(value) for value in column]
    alone = {text for text in texts if text}
    for separator in _SEPARATORS:
        joined = {text for text in alone if separator in text}
        parts = {part.strip() for text in alone for part in text.split(separator)}
        # A true separator makes fewer different labels, and some rows have a single label.
        if joined and len(parts) < len(alone) and parts & (alone - joined):
            return separator
    return None
