"""Writes a table with the answers to its rows in further columns."""

import csv
import json
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from allennlp.common.util import JsonDict

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write, is_stream, open_text
from elmo_tasks.common.records import CONLL, KINDS, TABLES, delimiter_of, suffix_of
from elmo_tasks.predictors.fields import rename_fields

logger = logging.getLogger(__name__)

# The forms of answers by the suffix of the file that they are written to.
_FORMS = {suffix: kind for suffix, kind in KINDS.items() if kind in (*TABLES, "json")}
_FORMS[".txt"] = "text"

# The packages that some forms need.
_PACKAGES = {"parquet": "pyarrow", "xlsx": "openpyxl"}

# The most characters of a cell of Excel.
_MOST_IN_CELL = 32_767


def form_of(
    output: str | os.PathLike | None, kind: str, in_json: bool = False, source: str | None = None
) -> str:
    """
    Returns the form in which to write the answers to a file: `csv`, `tsv`, `parquet`, `xlsx`,
    `json`, `text`, or for a file in columns `columns`. The suffix of `output` decides. If it names
    no form, the `kind` of the file decides. Printed answers are text or JSON. Raises
    `ConfigurationError` if a package is missing, if `in_json` contradicts the suffix, or if the
    file `source` cannot have a further column of tags.
    """
    suffix = "" if output is None else suffix_of(output)
    suffix_form = _FORMS.get(suffix) or ("columns" if CONLL.fullmatch(suffix) else None)
    if suffix == ".conllu":
        raise ConfigurationError(
            f"{output}: CoNLL-U has exactly ten columns, so a predicted tag cannot be added: "
            "choose a name that ends in .conll or .tsv"
        )
    if in_json and suffix_form in (*TABLES, "columns"):
        raise ConfigurationError(
            f"--jsonl writes JSON, and {output} is the name of another form: leave out --jsonl, or "
            "choose a name that ends in .jsonl"
        )
    if in_json or suffix_form is None and kind == "json":
        return "json"
    if kind == "columns" and output is not None:
        is_alike = suffix_form == "csv" and source is not None and suffix_of(source) == suffix
        if suffix_form in (None, "columns", "tsv") or is_alike:
            return "columns"
    if suffix_form == "columns" and source is not None:
        raise ConfigurationError(
            f"{output} is the name of a file in columns, but the answers to {source} are not "
            "a tag for each token: choose a name that ends in .csv, .jsonl or .txt"
        )
    form = suffix_form or (kind if output is not None and kind in TABLES else "text")
    package = _PACKAGES.get(form)
    if package is not None and find_spec(package) is None:
        raise ConfigurationError(
            f"{output} needs a package to be written: pip install {package}, or choose a name that "
            "ends in .csv"
        )
    return form


def delimiter_for(output: str | os.PathLike, form: str, source: str, kind: str) -> str:
    """
    Returns the delimiter of a table of text: the delimiter of the file `source`, unless the suffix
    of `output` stands for another delimiter.
    """
    if form == "tsv" and suffix_of(output) == ".tsv" or kind not in ("csv", "tsv"):
        return "\t" if form == "tsv" else ","
    delimiter = delimiter_of(source)
    is_renamed = suffix_of(output) == ".csv" != suffix_of(source)
    return "," if delimiter == "\t" and is_renamed else delimiter


def write_text(texts: Iterable[str], path: str | os.PathLike) -> None:
    """
    Writes texts one after the other to a file. The file appears whole, and only if there are texts.
    """
    texts = iter(texts)
    if (first := next(texts, None)) is None:
        return
    whole = nullcontext(path) if is_stream(path) else atomic_write(path)
    with whole as aside, open_text(aside, path) as file:
        file.write(first)
        file.writelines(texts)


class AnswerTable:
    """
    Collects rows and their answers on the disk, and writes them as a table. First come the columns
    of the rows, then the columns of the answers, then `error` if a row has an error. If a column of
    the rows has the same name as a later column, such as `label`, it is renamed to `input_label`.

    # Parameters

    names: The columns of the answers. If an answer has further columns, they are added at the end.
    delimiter: The delimiter of a table of text.
    """

    def __init__(self, names: Iterable[str] = (), delimiter: str = ",") -> None:
        self._delimiter = delimiter
        self._rows = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._input_names: dict[str, None] = {}
        self._answer_names = dict.fromkeys(names)
        self._num_rows = 0
        self._has_errors = False

    def add(self, row: JsonDict, answer: JsonDict, error: str | None = None) -> None:
        """Adds a row with its answer. The answer is empty if the row has none."""
        self._input_names.update(dict.fromkeys(row))
        self._answer_names.update(dict.fromkeys(answer))
        if error is not None:
            answer = {**answer, "error": error}
        self._rows.write(json.dumps([row, answer]) + "\n")
        self._num_rows += 1
        self._has_errors = self._has_errors or error is not None

    def write(
        self, path: str | os.PathLike, form: str, header: bool = True, may_be_empty: bool = False
    ) -> None:
        """
        Writes the rows to a file in the given form. If there are no rows, writes a file only if
        `may_be_empty` is set. Writes the names of the columns only if `header` is set.
        """
        if self._num_rows == 0 and not may_be_empty:
            return
        with nullcontext(path) if is_stream(path) else atomic_write(path) as aside:
            self._write(aside, path, form, header)

    def _write(self, aside: Any, path: Any, form: str, header: bool) -> None:
        errors = ["error"] if self._has_errors else []
        answer_names = [*self._answer_names, *errors]
        input_names = rename_fields({name: name for name in self._input_names}, answer_names)
        rows = self._values(list(input_names.values()), answer_names)
        names = [*input_names, *answer_names]
        if form == "parquet":
            _write_parquet(aside, names, rows)
        elif form == "xlsx":
            _write_workbook(aside, path, names if header else [], rows)
        else:
            _write_text(aside, path, names if header else [], rows, self._delimiter)

    def _values(
        self, input_names: Sequence[str], answer_names: Sequence[str]
    ) -> Iterator[list[Any]]:
        self._rows.seek(0)
        for line in self._rows:
            row, answer = json.loads(line)
            yield [*map(row.get, input_names), *map(answer.get, answer_names)]


def check_rows_form(output: str | os.PathLike | None) -> None:
    """Raises `ConfigurationError` unless `write_rows` can write a file of this name."""
    if output is not None and form_of(output, "text") not in (*TABLES, "json"):
        raise ConfigurationError(
            f"{output} is not the name of a table: choose one that ends in .csv, .tsv, .xlsx, "
            ".parquet or .jsonl"
        )


def write_rows(output: str | os.PathLike, rows: Iterable[JsonDict], names: Iterable[str]) -> None:
    """Writes rows as a table of columns with these names, or as JSON lines."""
    form = form_of(output, "text")
    if form == "json":
        with atomic_write(output) as aside, open_text(aside, output) as file:
            file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        return
    table = AnswerTable(names, "\t" if form == "tsv" else ",")
    for row in rows:
        table.add({}, row)
    table.write(output, form, may_be_empty=True)


class _Lines:
    """A file for the rows of `csv.writer`. A line ends with LF, and a CR in a row is quoted."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, row: str) -> None:
        self._file.write(f"{row.removesuffix(_CRLF)}\n")


_CRLF = "\r\n"


def _write_text(
    aside: Path, path: Path, names: list[str], rows: Iterable[list[Any]], delimiter: str
) -> None:
    with open_text(aside, path) as file:
        writer = csv.writer(_Lines(file), delimiter=delimiter, lineterminator=_CRLF)
        if names:
            writer.writerow(names)
        writer.writerows(map(_cell, row) for row in rows)


def _write_workbook(aside: Path, path: Path, names: list[str], rows: Iterable[list[Any]]) -> None:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("answers")
    num_cut = 0

    def cell(value: Any) -> Any:
        nonlocal num_cut
        value = _cell(value)
        if not isinstance(value, str):
            return value
        num_cut += len(value) > _MOST_IN_CELL
        cell_of_sheet = WriteOnlyCell(
            sheet, ILLEGAL_CHARACTERS_RE.sub("\ufffd", value)[:_MOST_IN_CELL]
        )
        # A text that begins with an equals sign must not become a formula.
        cell_of_sheet.data_type = "s"
        return cell_of_sheet

    if names:
        sheet.append(list(map(cell, names)))
    for row in rows:
        sheet.append(list(map(cell, row)))
    with open(aside, "wb") as file:
        book.save(file)
    if num_cut:
        logger.warning("%s: %d cells cut to Excel's %d characters", path, num_cut, _MOST_IN_CELL)


def _write_parquet(aside: Path, names: list[str], rows: Iterable[list[Any]]) -> None:
    import pyarrow
    import pyarrow.parquet

    columns = list(zip(*rows)) or [()] * len(names)
    arrays = []
    for values in columns:
        try:
            arrays.append(pyarrow.array(values))
        except pyarrow.ArrowException:
            # The values of JSON may have several types.
            arrays.append(pyarrow.array([_text_cell(value) for value in values]))
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=names), aside)


def _cell(value: Any) -> Any:
    """Returns a value for a cell. Lists and objects become JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _text_cell(value: Any) -> str | None:
    value = _cell(value)
    return value if value is None or isinstance(value, str) else json.dumps(value)
