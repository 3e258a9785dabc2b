"""Finds out the layout of a file in columns from its first lines."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from elmo_tasks.common.column_layout import (
    BLANKS,
    CONLLU,
    CSV,
    IN_LINE,
    ROLES,
    TAB,
    VALUE,
    Layout,
    is_document,
    may_be_comment,
    split_line,
)
from elmo_tasks.common.span_tags import usual_tags

# Names in a header.
_WORDS = "word words token tokens form".split()
_TAGS = (
    "tag tags label labels ner ner_tag ner_tags pos pos_tag pos_tags upos xpos chunk iob bio "
    "entity ne chunk_tag chunk_tags iob_tag bio_tag ner_label"
).split()
_SENTENCES = (
    "sentence_#|sentence|sentence_id|sent_id|sentenceid|sentence_idx|sent|sentence_number|doc_id"
).split("|")
_INDICES = ["", *"id index idx token_id token_idx word_id position unnamed:_0".split()]


def layout_of(lines: Sequence[str], columns: Sequence[str] | None = None) -> Layout:
    """
    Returns the layout of a file with these first lines. `columns` are the names of the columns, if
    they are known. Columns of an index or a sentence number have no name among them. If the column
    `word` would have an index or tags of spans, the content tells the names instead.
    """
    if columns is not None and ROLES in columns:
        return Layout(BLANKS, columns)
    lines = [line for line in lines if not may_be_comment(line) and not is_document(line)]
    rows = [line for line in lines if line.strip()]
    header, separator = next(
        ((rows[0], delimiter) for delimiter in (TAB, *CSV, BLANKS) if _is_header(rows, delimiter)),
        ("", ""),
    )
    if header:
        return _with_header(header, separator, [line for line in lines if line != header], columns)
    separator = _separator(lines, rows, columns)
    if separator == IN_LINE:
        return Layout(separator, columns or ["word", "tag"])
    table = [split_line(line, separator) for line in rows]
    width = _width(table)
    full_rows = [row for row in table if len(row) == width]
    index = 0 if _may_have_index(width, columns) and _counts(lines, separator, 0) else None
    shift = 0 if index is None else 1
    if columns is not None and "word" in columns and width == len(columns) + shift:
        word = shift + columns.index("word")
        words = Counter(row[word] for row in full_rows)
        if _counts(lines, separator, word) or _are_span_tags(words):
            return layout_of(lines)
    if columns is None:
        columns = _names(_sentences(lines, separator, width), shift)
    names = [*(["index"] * shift), *columns]
    last = frozenset(row[-1] for row in full_rows)
    return Layout(separator, names, range(shift), index, last_values=last)


def _separator(lines: Sequence[str], rows: list[str], columns: Sequence[str] | None) -> str:
    """
    Returns the separator that cuts each row into the same number of values, which must be the right
    number. If several do, a tab comes before blanks, and blanks come before the separators of
    tables.
    """
    if _is_in_line(rows) and (columns is None or len(columns) == 2):
        return IN_LINE
    has_blanks = any(VALUE.fullmatch(row) is None for row in rows)
    candidates = [TAB, BLANKS, *(() if has_blanks else CSV)]
    uniform: list[str] = []
    for separator in candidates:
        table = [split_line(row, separator) for row in rows]
        width = _width(table)
        if len(set(map(len, table))) > 1 or width < 2:
            continue
        if columns is not None:
            is_indexed = _may_have_index(width, columns) and _counts(lines, separator, 0)
            if width == len(columns) or is_indexed:
                return separator
        elif all(map(any, zip(*table))):
            return separator
        # A column that is empty everywhere may be a second tab, or one at the end of the line.
        uniform.append(separator)
    if uniform:
        return uniform[-1] if columns is None else uniform[0]
    with_tab = sum(TAB in row for row in rows)
    return TAB if 2 * with_tab > len(rows) else BLANKS


def _width(table: list[list[str]]) -> int:
    """
    Returns how many values most rows have. Columns at the end that are empty in all rows do not
    count.
    """
    if not table:
        return 0
    ((width, _),) = Counter(map(len, table)).most_common(1)
    while width > 1 and not any(row[width - 1] for row in table if len(row) == width):
        width -= 1
    return width


def _is_in_line(rows: Sequence[str]) -> bool:
    """Returns whether each line is a sentence of words with tags, as in `Oslo/LOC`."""
    items = [row.split() for row in rows]
    return any(len(row) > 1 for row in items) and all(
        all(item.rpartition("/")[::2]) for row in items for item in row
    )


def _may_have_index(width: int, columns: Sequence[str] | None) -> bool:
    return width > 2 if columns is None else width == len(columns) + 1


def _sentences(lines: Sequence[str], separator: str, width: int) -> list[list[list[str]]]:
    """Returns the values of the tokens of each sentence."""
    sentences: list[list[list[str]]] = [[]]
    for line in lines:
        if not line.strip():
            sentences.append([])
        elif len(values := split_line(line, separator)) >= width:
            sentences[-1].append(values)
    return [sentence for sentence in sentences if sentence]


def _counts(lines: Sequence[str], separator: str, column: int) -> bool:
    """
    Returns whether a column counts the tokens of each sentence from 0 or 1, or counts the tokens of
    the whole file.
    """
    before = None
    grows = False
    for sentence in _sentences(lines, separator, column + 1):
        for values in sentence:
            value = values[column]
            if re.fullmatch(r"\d+[-.]\d+", value):
                continue
            if not (value.isascii() and value.isdecimal()):
                return False
            goes_on = before is not None and int(value) == before + 1
            if not goes_on and value not in ("0", "1"):
                return False
            grows = grows or goes_on
            before = int(value)
    return grows


def _names(sentences: Sequence[list[list[str]]], shift: int) -> list[str]:
    """
    Returns names for columns without names. The words are in the first column, or, if it has tags
    of spans, in the first column without such tags. The tags are in the last column whose values
    differ within a sentence.
    """
    width = min((len(row) for sentence in sentences for row in sentence), default=shift)
    columns = range(shift, width)
    names = [f"column_{column}" for column in range(1, len(columns) + 1)]
    if len(columns) == 10 - shift and shift:
        return ["word", *CONLLU[2:]]
    values = [
        Counter(row[column] for sentence in sentences for row in sentence) for column in columns
    ]
    are_tags = list(map(_are_span_tags, values))
    are_tags = are_tags if any(are_tags) else list(map(_are_mostly_outside, values))
    word = are_tags.index(False) if False in are_tags else 0
    differ = [
        column - shift
        for column in columns
        if column - shift != word
        and any(len({row[column] for row in sentence}) > 1 for sentence in sentences)
    ]
    tag_columns = [column for column in range(len(columns)) if column != word]
    if tag_columns:
        names[(differ or tag_columns)[-1]] = "tag"
    if names:
        names[word] = "word"
    return names


def _are_span_tags(values: Counter[str]) -> bool:
    usual = usual_tags(values)
    return values.keys() <= usual.keys() and any("-" in tag for tag in usual.values())


def _are_mostly_outside(values: Counter[str]) -> bool:
    """
    Returns whether at least half of the values are `O`. If so, the other values may be types such
    as `PER`.
    """
    return len(values) > 1 and 2 * values["O"] >= values.total()


def _normalize(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _is_header(rows: Sequence[str], separator: str) -> bool:
    if len(rows) < 2:
        return False
    names = [_normalize(name) for name in split_line(rows[0], separator)]
    return any(name in _WORDS for name in names) and any(name in _TAGS for name in names)


def _with_header(
    header: str, separator: str, lines: Sequence[str], columns: Sequence[str] | None
) -> Layout:
    names = split_line(header, separator)
    simple = list(map(_normalize, names))
    word = next(column for column, name in enumerate(simple) if name in _WORDS)
    names[word] = "word"
    rows = [row for sentence in _sentences(lines, separator, len(names)) for row in sentence]
    ends = any(not line.strip() for line in lines[:-1])

    def first(choices: Sequence[str], fits: Callable[[int], bool]) -> int | None:
        places = (
            column for column, name in enumerate(simple) if name in choices and column != word
        )
        return next(filter(fits, places), None)

    index = first(_INDICES, lambda column: _counts(lines, separator, column))
    sentence = first(_SENTENCES, lambda _: True)
    if sentence is None and not ends:
        sentence = first(_INDICES, lambda column: column != index and _repeats(rows, column))
    no_values = [
        column for column, name in enumerate(simple) if name in _INDICES and column != word
    ]
    dropped = sorted({*no_values, *([] if sentence is None else [sentence])})
    layout_columns = [column for column in range(len(names)) if column not in dropped]
    if columns is not None and sorted(columns) != sorted(
        names[column] for column in layout_columns
    ):
        # The header has other names: the config's names hold, in the order of the file, if they
        # name the same column `word`.
        if len(columns) == len(names) and columns[word] == "word":
            dropped, sentence, index, layout_columns = [], None, None, list(range(len(names)))
        if len(columns) == len(layout_columns) and columns[layout_columns.index(word)] == "word":
            for column, name in zip(layout_columns, columns):
                names[column] = name
    # An index that goes on through the file counts no sentence's tokens.
    last = frozenset(row[-1] for row in rows)
    return Layout(separator, names, dropped, index, sentence, header, last)


def _repeats(rows: list[list[str]], column: int) -> bool:
    """Returns whether many rows have the same value in a column as the row before, or no value."""
    values = [row[column] for row in rows]
    num_repeats = sum(not after or after == before for before, after in zip(values, values[1:]))
    return 2 * num_repeats > len(values) - 1
