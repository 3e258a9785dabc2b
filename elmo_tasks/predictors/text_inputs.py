import logging
from collections.abc import Iterable, Iterator
from copy import copy
from itertools import chain
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.json_lines import json_lines
from elmo_tasks.common.records import (
    ROWS,
    Record,
    check_no_number,
    kind_of,
    read_records,
    read_rows,
)
from elmo_tasks.common.rows import LeftOut, is_blank
from elmo_tasks.common.tables import has_columns, names_delimiter
from elmo_tasks.common.text import did_you_mean, listed, parse_data
from elmo_tasks.predictors.column_inputs import column_inputs, has_columns_of_tags, warn_of_columns
from elmo_tasks.predictors.fields import check_shared, rename_fields, with_shared
from elmo_tasks.predictors.input_records import STDIN, Input, Inputs, NoText
from elmo_tasks.predictors.text_predictor import TextPredictor
from elmo_tasks.readers.tag import TagReader
from elmo_tasks.readers.tagged_json import as_input
from elmo_tasks.readers.text_reader import text_of

logger = logging.getLogger(__name__)


def read_inputs(
    path: str,
    predictor: Predictor,
    column: str | None = None,
    header: bool = True,
    shared: JsonDict | None = None,
) -> Inputs:
    """
    Reads the inputs for a predictor from a file or, if the path is `-`, from the standard input.
    The inputs are the rows of a table, the sentences of a file in columns, the lines of JSON or
    plain text (see `kind_of`), or the questions of a file in SQuAD's format. Lines of white space
    are skipped. A predictor that is not a `TextPredictor` reads each line by its own `load_line`.

    # Parameters

    column: The column of a table with the texts. By default, it has the name of the predictor's
        input, or `text`.
    header: Whether the first row of a table has the names of its columns.
    shared: Texts and settings that all inputs share. The file has only the other texts.

    # Raises

    `ValueError`: The file cannot be read; the message has the file and the line. Or the predictor
        does not read a text or setting in `shared`.
    `ConfigurationError`: The model needs other inputs than plain text, or a table lacks a column.
    """
    if not shared:
        return _read(path, predictor, column, header)
    check_shared(predictor, shared)
    asking: Any = copy(predictor)
    asking.input_names = tuple(name for name in asking.input_names if name not in shared)
    inputs = _read(path, asking, column, header)
    return inputs._replace(records=(_with_shared(record, shared) for record in inputs.records))


def _with_shared(record: Input, shared: JsonDict) -> Input:
    if record.error is not None:
        return record
    try:
        return record._replace(values=with_shared(record.values, shared))
    except ValueError as error:
        return record._replace(error=error)


def _read(path: str, predictor: Predictor, column: str | None, header: bool) -> Inputs:
    kind = kind_of(path)
    if column is None and has_columns_of_tags(path, kind, predictor):
        return column_inputs(path, "columns", predictor)
    if column is None and kind == "parquet" and _has_tokens(path, predictor):
        rows = (Input(*row[:2], as_input(row.values), row.values) for row in read_records(path))
        return Inputs(path, kind, rows)
    if isinstance(predictor, TextPredictor) and kind in ROWS:
        return Inputs(path, kind, _rows(path, predictor, column, header))
    name = STDIN if path == "-" else path
    after_first = (line for line in read_records(path, "text") if line.values["text"].strip())
    first = next(after_first, None)
    if first is None:
        return Inputs(name, "json", iter(()))
    lines, kind = chain([first], after_first), kind_of(path, first.values["text"])
    is_ours = isinstance(predictor, TextPredictor)
    if is_ours and kind in predictor.kinds_of_training and path != "-":
        file_inputs = predictor.inputs_of(path, first.values["text"])
        if file_inputs is not None:
            numbered = enumerate(file_inputs, start=1)
            inputs = (Input(path, *item, item[1]) for item in numbered)
            return Inputs(name, "json" if kind == "json" else "text", inputs)
    if not isinstance(predictor, TextPredictor) or kind == "json":
        return Inputs(name, "json", _json(lines, predictor, name))
    if kind == "text" and _is_table(first, predictor, column, header):
        if path == "-":
            raise ConfigurationError(
                f"{name} is a table ({first.values['text']:.80}), which is read only from a file: "
                "give text or JSON"
            )
        kind = "tsv" if "\t" in first.values["text"] else "csv"
        return Inputs(path, kind, _rows(path, predictor, column, header))
    if len(predictor.input_names) > 1:
        raise ConfigurationError(
            f"{name}:{first.line}: expected JSON or a table (such as .csv) with "
            f"{' and '.join(predictor.input_names)}, but got {first.values['text'][:80]!r}"
        )
    if column is not None:
        raise ConfigurationError(
            f"{name} is not a table (.csv, .tsv, .parquet or .xlsx), so it has no column {column}"
        )
    if kind in ("columns", "conllu"):
        return column_inputs(path, kind, predictor)
    warn_of_columns(path, first, predictor)
    field = predictor.input_names[0]
    texts = ((line, {field: line.values["text"]}) for line in lines)
    return Inputs(name, "text", (Input(*line[:2], text, text) for line, text in texts))


def _is_table(first: Record, predictor: TextPredictor, column: str | None, header: bool) -> bool:
    """Returns whether the first line of a text begins a table of inputs."""
    if names_delimiter(first.values["text"]):
        return True
    names = predictor.input_names
    if not header:
        column_sets: list[tuple[str, ...]] = [()]
    elif column is not None:
        column_sets = [(column,)]
    else:
        other = {name: other for other, name in predictor.other_texts.items()}
        other_columns = (
            ("text",) if len(names) == 1 else tuple(other.get(name, name) for name in names)
        )
        column_sets = [names, other_columns]
    return any(has_columns(first.values["text"], columns) for columns in column_sets)


def _json(lines: Iterable[Record], predictor: Predictor, name: str) -> Iterator[Input]:
    is_tagger = isinstance(getattr(predictor, "_dataset_reader", None), TagReader)
    for number, line in json_lines(
        ((record.line, record.values["text"]) for record in lines), name
    ):
        try:
            # A user's own predictor may expect the line end, which AllenNLP leaves in the line.
            values = predictor.load_line(f"{line}\n")
        except ValueError as error:
            message = f"expected one JSON object on each line, but got {line[:80]!r} ({error})"
            yield Input(name, number, {}, {}, ValueError(message))
        else:
            row = parse_data(line) if isinstance(predictor, TextPredictor) else {}
            yield Input(name, number, as_input(values) if is_tagger else values, row)


def _has_tokens(path: str, predictor: Predictor) -> bool:
    """Returns whether the rows of a table have the words of a sentence, for a tagger."""
    first = next(read_records(path), None)
    is_tagger = isinstance(predictor._dataset_reader, TagReader)
    return is_tagger and first is not None and "tokens" in as_input(first.values)


def _rows(path: str, predictor: TextPredictor, column: str | None, header: bool) -> Iterator[Input]:
    """Yields the rows of a table. Rows without a text are counted in the log."""
    rows = read_rows(path, header=header)
    first = next(rows, None)
    if first is None:
        return
    columns = _columns_of(first, predictor, column)
    if column is None:
        check_no_number(first, columns.values())
    text_columns = ("", *columns.values())
    names = (*predictor.input_names, *predictor.other_names)
    left_out = LeftOut()
    for row in chain([first], rows):
        further = {name: value for name, value in row.values.items() if name not in text_columns}
        further = rename_fields(further, names)
        if any(is_blank(row.values[column]) for column in columns.values()):
            if not all(map(is_blank, row.values.values())):
                left_out.add("without a text", row.line)
            yield Input(row.file, row.line, further, row.values, NoText())
            continue
        texts = {name: text_of(row.values, column) for name, column in columns.items()}
        yield Input(row.file, row.line, {**texts, **further}, row.values)
    if left_out:
        logger.warning("%s: no answer for %s", path, left_out)


def _columns_of(row: Record, predictor: TextPredictor, column_option: str | None) -> dict[str, str]:
    """Returns, for each text of an input, the column of the table that it is read from."""
    names = predictor.input_names
    columns = {name: name for name in names}
    for other_name, name in predictor.other_texts.items():
        if name not in row.values and other_name in row.values:
            columns[name] = other_name
    if len(names) == 1 and (column_option or names[0] not in row.values):
        columns = {names[0]: column_option or "text"}
    elif column_option:
        raise ConfigurationError(f"this model reads the columns {' and '.join(names)}")
    advice = "; choose one with --column, or give --no-header"
    if len(names) > 1:
        advice = f"; name those of the texts {' and '.join(names)} in the first line"
    for column in columns.values():
        if column not in row.values:
            raise ConfigurationError(
                f"{row.file}:1: there is no column {column}{did_you_mean(column, row.values)}; "
                f"there are {listed(list(filter(None, row.values)))}{advice}"
            )
    return columns
