"""Reports oddities in the texts and labels of a user's rows, and changes nothing."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from elmo_tasks.common.records import Record
from elmo_tasks.common.text import listed
from elmo_tasks.readers.classify import ClassifyReader

# Labels that often stand for no label.
_NO_LABEL = frozenset("- -1 ? na n/a nan none null nil unknown ignore".split())

# Several labels in one text, or a list as Python writes it. A number such as 4,5 is one label.
_SEVERAL = re.compile(r"(?=.*[^\W\d])\[.*\]|(?=.*[^\W\d])[^\s,;|]+([,;|][^\s,;|]+)+")

_MARKUP = re.compile(r"</?(br|p|div|span|b|i|em|a)\b[^<>]*>|&(amp|lt|gt|quot|nbsp|#\d+);", re.I)
# What is left of letters that were read in a wrong encoding: a sign in the place of a letter that
# was lost, or two or three characters of Windows-1252 for one of UTF-8.
_GARBLED = re.compile("\ufffd|\u00c3[\u0080-\u00bf\u0192\u201e\u2026]|\u00e2\u20ac")
_QUOTED = re.compile(r"\s*(['\"]).*\1\s*", re.DOTALL)

# If at least this share of texts or labels has an oddity, the oddity is no accident.
_MANY = 0.5


def odd_labels(labels: Counter[str], values: Sequence[object]) -> Iterator[str]:
    """
    Yields a line for each oddity of labels.

    # Parameters

    labels: How often each label occurs.
    values: The label of each row, as the file has it.
    """
    if once := [repr(name) for name, number in labels.items() if number == 1]:
        yield f"Labels that occur once, perhaps by a slip: {listed(once)}."
    if names := [f"{name!r} ({labels[name]:,})" for name in labels if name.lower() in _NO_LABEL]:
        yield (
            f"Labels that may stand for no label: {listed(names)}. They are learnt like any label; "
            "empty labels are left out."
        )
    several = [name for name in labels if _SEVERAL.fullmatch(name)]
    if several and len(several) >= _MANY * len(labels):
        yield (
            f"Labels that may be several in one, such as {several[0]!r}: --separator cuts them (a "
            "list in brackets is read only from JSON)."
        )
    yield from alike_labels(labels)
    if blanks := sum(isinstance(value, str) and value != value.strip() for value in values):
        yield f"Labels with blanks around them, which are not part of the label: {blanks:,}."


def alike_labels(labels: Counter[str]) -> Iterator[str]:
    """Yields a line if labels differ only by case, blanks or characters that look the same."""
    forms: dict[str, list[str]] = {}
    for name in labels:
        visible = "".join(char for char in name if unicodedata.category(char) != "Cf")
        form = " ".join(unicodedata.normalize("NFKC", visible).casefold().split())
        forms.setdefault(form, []).append(f"{name!r} ({labels[name]:,})")
    if alike := [" and ".join(names) for names in forms.values() if len(names) > 1]:
        yield (
            "Labels that differ only by case, blanks or characters that look the same, perhaps by "
            f"a slip: {listed(alike)}."
        )


def equal_texts(rows: Sequence[Record], reader: ClassifyReader) -> Iterator[str]:
    """Yields a line if equal texts have different labels."""
    first: dict[tuple[object, ...], object] = {}
    lines = []
    for row in rows:
        label = reader.labels_of(row.values)
        if first.setdefault(tuple(row.values[name] for name in reader.texts), label) != label:
            lines.append(row.line)
    if lines:
        yield (
            f"Texts that an earlier row has with another label: {len(lines):,}, the first in line "
            f"{lines[0]}."
        )


def odd_texts(rows: Sequence[Record], names: Sequence[str]) -> Iterator[str]:
    """Yields a line for each oddity of the texts in the columns `names`."""
    texts = [(row.line, str(row.values[name])) for row in rows for name in names]
    long = [(1 + text.strip().count("\n"), line) for line, text in texts]
    if several := [length for length in long if length[0] > 1]:
        lines, line = max(several, key=lambda length: length[0])
        yield (
            f"Texts that run over several lines: {len(several):,}; the longest runs over {lines} "
            f"lines, from line {line}."
        )
    no_letter = [line for line, text in texts if not any(map(str.isalpha, text))]
    if no_letter:
        yield (
            f"Texts without a letter, such as numbers: {len(no_letter):,}, the first in line "
            f"{no_letter[0]}."
        )
    garbled = [line for line, text in texts if _GARBLED.search(text)]
    if garbled:
        yield (
            "Texts with characters that were lost or read in a wrong encoding, such as \ufffd or "
            f"\u00c3\u00a9: {len(garbled):,}, the first in line {garbled[0]}."
        )
    html = [line for line, text in texts if _MARKUP.search(text)]
    if html:
        yield (
            f"Texts with HTML such as <br />, which is read as words: {len(html):,}, the first in "
            f"line {html[0]}."
        )
    quoted_lines = [line for line, text in texts if _QUOTED.fullmatch(text)]
    if len(quoted_lines) > _MANY * len(texts):
        yield (
            f"Texts in quotes, which are read as words: {len(quoted_lines):,}, the first in line "
            f"{quoted_lines[0]}."
        )
