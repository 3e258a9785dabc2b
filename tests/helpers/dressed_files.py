"""Writes the same rows as a file in any of the forms in which people have tables."""

import csv
import gzip
import io
import json
import lzma
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis.strategies as st

NAMES = ("text", "label")
DELIMITERS = {"commas": ",", "semicolons": ";", "tabs": "\t", "pipes": "|"}
_PACK: dict[str, Any] = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}

# Words that look like a delimiter, a quote or the end of a line.
_PIECES = st.one_of(
    st.sampled_from(list(",;|\t\"'\n\\") + ['""', "\r\n", "  ", "😀", "é", "日本", "#", "[", "{"]),
    st.text("abc DEF.1", min_size=1, max_size=6),
)
TEXTS = st.lists(_PIECES, max_size=7).map("".join)
ROWS = st.lists(
    st.tuples(TEXTS, st.sampled_from(["good", "bad", "-1", ""])), min_size=1, max_size=7
)


class Dress(NamedTuple):
    """How a file is written: `form` is a delimiter, or `lines`, `array` or `indented` of JSON."""

    form: str
    encoding: str
    line_end: str
    packed: str
    quotes_all: bool
    sep_line: bool
    header: bool
    suffix: str

    def write(self, folder: Path, rows: list[tuple[str, str]]) -> Path:
        """Writes rows as a file, and returns its path."""
        path = folder / f"rows{self.suffix}{self.packed}"
        text = self._table(rows) if self.form in DELIMITERS else self._json(rows)
        path.write_bytes(_PACK[self.packed](text.encode(self.encoding)))
        return path

    def _json(self, rows: list[tuple[str, str]]) -> str:
        objects = [dict(zip(NAMES, row)) for row in rows]
        if self.form == "lines":
            return "".join(json.dumps(each, ensure_ascii=False) + self.line_end for each in objects)
        text = json.dumps(
            objects, ensure_ascii=False, indent=2 if self.form == "indented" else None
        )
        return text.replace("\n", self.line_end)

    def _table(self, rows: list[tuple[str, str]]) -> str:
        file = io.StringIO(newline="")
        delimiter = DELIMITERS[self.form]
        if self.sep_line:
            file.write(f"sep={delimiter}{self.line_end}")
        quoting: Any = csv.QUOTE_ALL if self.quotes_all else csv.QUOTE_MINIMAL
        writer = csv.writer(
            file, delimiter=delimiter, quoting=quoting, lineterminator=self.line_end
        )
        writer.writerows([NAMES, *rows] if self.header else rows)
        return file.getvalue()


DRESSES = st.builds(
    Dress,
    form=st.sampled_from([*DELIMITERS, "lines", "array", "indented"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    packed=st.sampled_from(list(_PACK)),
    quotes_all=st.booleans(),
    sep_line=st.booleans(),
    header=st.booleans(),
    suffix=st.sampled_from(["", ".txt", ".csv", ".tsv"]),
)


def as_read(text: str) -> str:
    """Returns a text of a table as it is read: each end of a line is a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
