"""Reports oddities in the texts and labels of a user's rows, and changes nothing."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from elmo_tasks.common.records import Record
from elmo_tasks.common.text import listed

# Labels that often stand for no label.
_NO_LABEL = frozenset("- -1 ? na n/a nan none null nil unknown ignore".split())

_MARKUP = re.compile(r"</?(br|p|div|span|b|i|em|a)\b[^<>]*>|&(amp|lt|gt|quot|nbsp|#\d+);", re.I)
_QUOTED = re.compile(r"\s*(['\"]).*\1\s*", re.DOTALL)

# If at least this share of the texts has quotes around it, the quotes are no accident.
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
    forms: dict[str, list[str]] = {}
    for name in labels:
        form = " ".join(name.casefold().split())
        forms.setdefault(form, []).append(f"{name!r} ({labels[name]:,})")
    if alike := [" and ".join(names) for names in forms.values() if len(names) > 1]:
        yield f"Labels that differ only by case or blanks, perhaps by a slip: {listed(alike)}."
    if blanks := sum(isinstance(value, str) and value != value.strip() for value in values):
        yield f"Labels with blanks around them, which are not part of the label: {blanks:,}."


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
