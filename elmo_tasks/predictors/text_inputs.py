import json
import logging
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import TABLES, Record, kind_of, read_records
from elmo_tasks.common.spelling import did_you_mean, listed
from elmo_tasks.predictors.answers import unlike
from elmo_tasks.predictors.text_predictor import TextPredictor

logger = logging.getLogger(__name__)

_STDIN = "standard input"

# The beginning of the message on a line that is not an input in JSON.
_EXPECTED_JSON = "expected one JSON object on each line"


class Inputs(NamedTuple):
    """The inputs of a file, as the values of records, and whether the file has them in JSON."""

    name: str
    are_json: bool
    records: Iterator[Record]


def read_inputs(path: str, predictor: Predictor, header: bool = True) -> Inputs:
    """
    Reads the inputs for a predictor from a file or, if the path is `-`, from the standard input:
    the rows of a table, the sentences of a file in columns, or the lines of JSON or plain text (see
    `kind_of`). Lines of white space are skipped. If the predictor is no `TextPredictor`, its
    `load_line` reads each line.

    # Raises

    `ValueError`: A line cannot be read; the message has the file and the line.
    `ConfigurationError`: The model needs other inputs than plain text, a table lacks a column, or
        the columns of a file are not known.
    """
    kind = kind_of(path)
    if isinstance(predictor, TextPredictor) and kind in TABLES:
        return Inputs(path, False, _rows(path, predictor, header))
    name = _STDIN if path == "-" else path
    after_first = (line for line in read_records(path, "text") if line.values["text"].strip())
    first = next(after_first, None)
    if first is None:
        return Inputs(name, True, iter(()))
    lines, kind = chain([first], after_first), kind_of(path, first.values["text"])
    if not isinstance(predictor, TextPredictor) or kind == "json":
        return Inputs(name, True, _json(lines, predictor))
    if len(predictor.input_names) > 1:
        raise ConfigurationError(
            f"{name}:{first.line}: expected JSON or a table (such as .csv) with "
            f"{' and '.join(predictor.input_names)}, but got {first.values['text'][:80]!r}"
        )
    if predictor.column is not None:
        raise ConfigurationError(
            f"{name} is not a table (.csv, .tsv, .parquet or .xlsx), so it has no column "
            f"{predictor.column}"
        )
    if kind in ("columns", "conllu"):
        return Inputs(name, False, _columns(path, kind, predictor))
    return Inputs(name, False, _texts(lines, predictor))


def _json(lines: Iterable[Record], predictor: Predictor) -> Iterator[Record]:
    for record in lines:
        line, place = record.values["text"], f"{record.file}:{record.line}"
        try:
            # Somebody's own predictor may expect the line end, which AllenNLP leaves in the line.
            asked = predictor.load_line(f"{line}\n")
            if isinstance(predictor, TextPredictor) and not isinstance(asked, dict):
                raise ValueError(f"{_EXPECTED_JSON}, but got {line[:80]!r}")
        except ValueError as error:
            reason = str(error)
            if isinstance(error, json.JSONDecodeError):
                reason = f"{_EXPECTED_JSON}, but got {line[:80]!r} ({error})"
            raise ValueError(f"{place}: {reason}") from error
        yield record._replace(values=asked)


def _columns(path: str, kind: str, predictor: TextPredictor) -> Iterator[Record]:
    """
    Yields the sentences of CoNLL-U, or of a file with the columns of the model's dataset reader or
    one column.
    """
    if path == "-" or "tokens" not in predictor.other_names:
        raise ConfigurationError(
            f"{_STDIN if path == '-' else path} is in columns: `predict` reads columns only from a "
            "file, for a model of single sentences; give text or JSON"
        )
    word, columns = "form", None
    if kind != "conllu":
        word, columns = "word", getattr(predictor._dataset_reader, "columns", None)
        first = next(read_records(path, kind), None)
        if first is not None and len(first.values) == 1:
            columns = ["word"]
        elif first is not None and columns is None:
            raise ConfigurationError(
                f"{path}:{first.line}: the file is in columns, and the model does not know which "
                "has the words: give plain text, JSON, or one word on each line"
            )
    for sentence in read_records(path, kind, columns):
        yield sentence._replace(values={"tokens": sentence.values[word]})


def _rows(path: str, predictor: TextPredictor, header: bool) -> Iterator[Record]:
    """Yields the rows of a table. Rows without a text are left out and counted in the log."""
    empty: list[int] = []
    for row in read_records(path, header=header):
        columns = _columns_of(row, predictor)
        asked = {name: row.values[column] or "" for name, column in columns.items()}
        if not all(str(text).strip() for text in asked.values()):
            empty.append(row.line)
            continue
        further = _further(row, tuple(columns.values()), predictor)
        for each in _split(asked, predictor):
            yield row._replace(values={**each, **further})
    if empty:
        message = "%s: rows without a text have no answer: %d, the first in line %d"
        logger.warning(message, path, len(empty), empty[0])


def _columns_of(row: Record, predictor: TextPredictor) -> dict[str, str]:
    """Returns the column of the table that each text of an input is read from."""
    names = predictor.input_names
    if len(names) > 1:
        if not set(names) <= row.values.keys():
            raise ConfigurationError(
                f"{row.file}:1: expected the columns {' and '.join(names)}, but got "
                f"{listed(row.values)}"
            )
        return {name: name for name in names}
    known = [predictor.column] if predictor.column else list(dict.fromkeys([names[0], "text"]))
    for column in known:
        if column in row.values:
            return {names[0]: column}
    raise ConfigurationError(
        f"{row.file}:1: there is no column {' or '.join(known)}"
        f"{did_you_mean(known[0], row.values)}; choose one of {listed(row.values)}"
    )


def _further(row: Record, read: tuple[str, ...], predictor: TextPredictor) -> JsonDict:
    """Returns a row's named columns that are not read, renamed if a field has their name."""
    taken = (*predictor.input_names, *predictor.other_names)
    columns = {name: value for name, value in row.values.items() if name and name not in read}
    return {unlike(name, taken): value for name, value in columns.items()}


def _texts(lines: Iterable[Record], predictor: TextPredictor) -> Iterator[Record]:
    for line in lines:
        for each in _split({predictor.input_names[0]: line.values["text"]}, predictor):
            yield line._replace(values=each)


def _split(asked: JsonDict, predictor: TextPredictor) -> list[JsonDict]:
    """Returns an input, or with the setting `split` an input for each sentence of its text."""
    if not predictor.split:
        return [asked]
    # spaCy is imported only when it is needed.
    from elmo_tasks.readers.spacy_pipeline import split_sentences

    ((name, text),) = asked.items()
    return [{name: sentence.text.strip()} for sentence in split_sentences(text)]
