"""Chooses the columns of a user's file that a training run reads, by their names."""

from collections.abc import Iterable, Sequence

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import Record, kind_of
from elmo_tasks.common.text import listed, nearest_or_all
from elmo_tasks.readers.classify import ClassifyReader

# Pairs of column names, for the two texts of a row.
_PAIRS = [
    (f"{name}{first}", f"{name}{second}")
    for name in ("sentence", "text", "question", "text_", "sentence_")
    for first, second in (("1", "2"), ("a", "b"))
] + [("premise", "hypothesis"), ("first", "second"), ("question", "passage")]
# Names of columns with texts and with labels. The first one that a file has is chosen.
_TEXTS = "text sentence review body content comment message document tweet title".split()
_LABELS = (
    "label labels class category sentiment topic target rating stars answer gold_label".split()
)


def choose_columns(
    records: Sequence[Record],
    texts: Sequence[str] | None = None,
    label: str | None = None,
    separator: str | None = None,
) -> ClassifyReader:
    """
    Returns a reader of the columns with the texts and the labels. Columns that are not given are
    chosen by their names. For `separator`, see `ClassifyReader`.

    # Raises

    `ConfigurationError`: No column has a known name, or a given column does not exist.
    """
    names, file = column_names(records), records[0].file
    option_names = [*(texts or ()), *([] if label is None else [label])]
    for name in option_names:
        if name not in names:
            raise ConfigurationError(f"{file} has no column {name}{nearest_or_all(name, names)}")
    name_of = {name.lower(): name for name in names if name not in option_names}
    pair = next((pair for pair in _PAIRS if set(pair) <= name_of.keys()), ())
    text_columns = texts or [
        name_of[name] for name in pair or [n for n in _TEXTS if n in name_of][:1]
    ]
    label = label or next(
        (name_of[n] for n in _LABELS if n in name_of and name_of[n] not in text_columns), None
    )
    if not text_columns or label is None:
        problem = "the labels with --label" if text_columns else "the texts with --text"
        # The columns of a table without a header are named 1, 2, ....
        has_header = kind_of(file) != "json" and "1" not in names
        hint = ", or give --no-header if its first line is a row" if has_header else ""
        header_names = [name for name in names if name]
        raise ConfigurationError(
            f"{file}: name the column of {problem}{hint}; there are {listed(header_names)}"
        )
    if any(isinstance(record.values.get(label), list) for record in records):
        # Only a reader with a separator takes lists of labels. It does not cut those.
        separator = separator or ";"
    return ClassifyReader(list(text_columns), label, separator)


def column_names(records: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record.values))
