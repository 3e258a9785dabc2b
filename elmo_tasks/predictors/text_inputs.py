import json
import sys
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import read_records
from elmo_tasks.common.tables import (
    COMPRESSED,
    Record,
    check_header,
    choose_column,
    delimiter_of,
    is_parquet,
)
from elmo_tasks.common.text_files import numbered_lines
from elmo_tasks.predictors.column_inputs import column_sentences, is_in_columns
from elmo_tasks.predictors.text_predictor import EXPECTED_JSON, TextPredictor, unlike

_JSON = tuple(kind + suffix for kind in (".json", ".jsonl") for suffix in ("", *COMPRESSED))
_STDIN = "standard input"


class LocatedInput(NamedTuple):
    """
    An input of a predictor.

    # Parameters

    line_number: The number of the line in the file at which the input begins, from 1.
    json: What the predictor reads.
    """

    line_number: int
    json: JsonDict


class Inputs(NamedTuple):
    """
    The inputs of a file.

    # Parameters

    name: The name of the file, for messages.
    are_json: Whether the file has JSON, and not plain text or a table.
    """

    name: str
    are_json: bool
    located: Iterator[LocatedInput]


def read_inputs(path: str, predictor: Predictor) -> Inputs:
    """
    Reads the inputs for a predictor from a file or, if the path is `-`, from the standard input. A
    file may be compressed by gzip, xz or bzip2. Lines of white space are skipped.

    If the predictor is no `TextPredictor`, its `load_line` reads each line. Otherwise

    - `.csv`, `.tsv` and `.parquet` files are tables with named columns;
    - `.json` and `.jsonl` files have JSON on each line;
    - files in columns, told by their suffix (`.conll`, `.conllu`) or first line, have the words of
      sentences (see `column_sentences`);
    - other files, and the standard input, have JSON on each line if the first line begins with `{`,
      and otherwise plain text, an input on each line.

    # Raises

    `ValueError`: A line cannot be read; the message has the file and the line.
    `ConfigurationError`: The model needs other inputs than plain text, a table lacks a column, or
        the columns of a file are not known.
    """
    if isinstance(predictor, TextPredictor) and (is_parquet(path) or delimiter_of(path)):
        return Inputs(path, False, _rows(path, predictor))
    name = _STDIN if path == "-" else path
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        return Inputs(name, True, iter(()))
    lines = chain([first], lines)
    if not isinstance(predictor, TextPredictor) or (
        path.endswith(_JSON) or first[1].lstrip().startswith("{")
    ):
        return Inputs(name, True, _json(name, lines, predictor))
    if len(predictor.input_names) > 1:
        raise ConfigurationError(
            f"{name}:{first[0]}: expected JSON or a table (.csv or .tsv) with "
            f"{' and '.join(predictor.input_names)}, but got {first[1][:80]!r}"
        )
    if predictor.column is not None:
        raise ConfigurationError(
            f"{name} is not a table (.csv or .tsv), so it has no column {predictor.column}"
        )
    if is_in_columns(path, first[1]):
        return Inputs(name, False, _columns(name, predictor))
    return Inputs(name, False, _texts(lines, predictor))


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yields the number and the text of each line that has more than white space."""
    lines = _stdin_lines() if path == "-" else numbered_lines(path)
    return ((number, line) for number, line in lines if line.strip())


def _stdin_lines() -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in enumerate(sys.stdin, start=1):
            yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{_STDIN}:{number + 1}: not UTF-8: {error}") from error


def _json(
    name: str, lines: Iterator[tuple[int, str]], predictor: Predictor
) -> Iterator[LocatedInput]:
    for number, line in lines:
        try:
            # Somebody's own predictor may expect the line end, which AllenNLP leaves in the line.
            asked = predictor.load_line(f"{line}\n")
            if isinstance(predictor, TextPredictor) and not isinstance(asked, dict):
                raise ValueError(f"{EXPECTED_JSON}, but got {line[:80]!r}")
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{name}:{number}: {EXPECTED_JSON}, but got {line[:80]!r} ({error})"
            ) from error
        except ValueError as error:
            raise ValueError(f"{name}:{number}: {error}") from error
        yield LocatedInput(number, asked)


def _columns(name: str, predictor: TextPredictor) -> Iterator[LocatedInput]:
    if name == _STDIN or "tokens" not in predictor.other_names:
        raise ConfigurationError(
            f"{name} is in columns: `predict` reads columns only from a file, as single sentences; "
            "give text or JSON (`evaluate --predictions-output-file` reads labelled data)"
        )
    for line_number, words in column_sentences(name, predictor._dataset_reader):
        yield LocatedInput(line_number, {"tokens": words})


def _texts(lines: Iterator[tuple[int, str]], predictor: TextPredictor) -> Iterator[LocatedInput]:
    for number, line in lines:
        yield from _sentences(number, line, predictor)


def _rows(path: str, predictor: TextPredictor) -> Iterator[LocatedInput]:
    if len(predictor.input_names) == 1:
        column = choose_column(path, predictor.column, (*predictor.input_names, "text"))
        for row in read_records(path):
            further = _further(row, (column,), predictor)
            yield from _sentences(row.line_number, row.values[column] or "", predictor, further)
        return
    check_header(path, predictor.input_names)
    for row in read_records(path):
        asked = {name: row.values[name] or "" for name in predictor.input_names}
        further = _further(row, predictor.input_names, predictor)
        yield LocatedInput(row.line_number, {**asked, **further})


def _further(row: Record, read: tuple[str, ...], predictor: TextPredictor) -> JsonDict:
    """
    Returns a row's named columns that the predictor does not read. Renames a column that has the
    name of an input's field.
    """
    taken = (*predictor.input_names, *predictor.other_names)
    columns = {name: value for name, value in row.values.items() if name and name not in read}
    return {unlike(name, taken): value for name, value in columns.items()}


def _sentences(
    number: int, text: str, predictor: TextPredictor, further: JsonDict | None = None
) -> Iterator[LocatedInput]:
    texts = [text]
    if predictor.split:
        # spaCy is imported only when it is needed.
        from elmo_tasks.readers.sentence_splitter import split_sentences

        texts = [sentence.text.strip() for sentence in split_sentences(text)]
    for each in texts:
        yield LocatedInput(number, {predictor.input_names[0]: each, **(further or {})})
