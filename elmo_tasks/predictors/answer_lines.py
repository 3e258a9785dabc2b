"""Writes the answers to the inputs of a file as lines of text, as JSON, or as rows of a table."""

from collections.abc import Iterator
from itertools import tee
from typing import NamedTuple

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.common.text import listed, printable
from elmo_tasks.predictors.answer_tables import AnswerTable
from elmo_tasks.predictors.fields import with_fields
from elmo_tasks.predictors.input_records import Input, Inputs, NoText
from elmo_tasks.predictors.stream import GROUP, reason, stream
from elmo_tasks.predictors.text_predictor import TextPredictor, as_json, one_line


class Answered(NamedTuple):
    """An input with its answer or its error. The error of a row without a text is `NoText`."""

    input: Input
    answer: JsonDict | Exception

    @property
    def error(self) -> str | None:
        """Why an input with a text has no answer, or `None`."""
        is_error = isinstance(self.answer, Exception) and not isinstance(self.answer, NoText)
        return reason(self.answer) if is_error else None  # type: ignore[arg-type]


def answer_inputs(
    inputs: Inputs, predictor: Predictor, batch_size: int = GROUP
) -> Iterator[Answered]:
    """
    Yields each input with its answer or error, in the order of the file. Raises `ValueError` at the
    end if an input has an error, or if the file has no input.
    """
    records, copies = tee(inputs.records)
    values = (copy.error or copy.values for copy in copies)
    is_ours = isinstance(predictor, TextPredictor)
    answers = stream(
        predictor.finite_answers if is_ours else predictor.predict_batch_json, values, batch_size
    )
    num_inputs, lines, first_reason = 0, list[int](), ""
    # If a line cannot be read, `records` ends, and `answers` raises the error.
    for record, answer in zip(records, answers, strict=True):
        result = Answered(record, answer)
        num_inputs += not isinstance(result.answer, NoText)
        if result.error is not None:
            lines.append(result.input.line)
            first_reason = first_reason or result.error
        yield result
    if num_inputs == 0:
        raise ValueError(
            f"{inputs.name} has no input: expected a line of text or JSON, or a row below the "
            "header of a table"
        )
    if lines:
        raise ValueError(
            f"{inputs.name}:{lines[0]}: {first_reason}; inputs without an answer: {len(lines)} "
            f"of {num_inputs}, in line {listed(list(map(str, lines)))}"
        )


def text_of_answer(result: Answered, predictor: TextPredictor) -> str:
    """
    Returns an answer as text. Fields of the input that the predictor does not read are at the end
    of the first line. The line of an input with an error says why: `ERROR line 3: the reason`.
    """
    text = "\n"
    if result.error is not None:
        text = printable(f"ERROR line {result.input.line}: {result.error}") + "\n"
    elif isinstance(result.answer, dict):
        text = predictor.dump_text(result.answer)
    fields = predictor.further_fields(result.input.values)
    first, end, lines_below = text.partition("\n")
    field_texts = [printable(one_line(f"{name}: {value}")) for name, value in fields.items()]
    return "\t".join([first, *field_texts]) + end + lines_below


def json_of_answer(result: Answered, predictor: Predictor) -> str:
    """
    Returns an answer as a line of JSON, with the fields of its input in the file. The line of an
    input with an error says why: `{"error": "the reason", "line": 3}`.
    """
    answer, row = result.answer, result.input.row
    if isinstance(answer, dict):
        if not isinstance(predictor, TextPredictor):
            return predictor.dump_line(answer)
        fields = {
            name: row[name] for name in row if name not in answer or answer[name] != row[name]
        }
        return predictor.dump_line(with_fields(answer, fields))
    if result.error is not None:
        return f"{as_json(with_fields({'error': result.error, 'line': result.input.line}, row))}\n"
    empty = dict.fromkeys(getattr(predictor, "columns_of_answer", ())[:1])
    return f"{as_json(with_fields(empty, row))}\n"


def add_to(table: AnswerTable, result: Answered, predictor: Predictor) -> None:
    """Adds an input and its answer as a row of a table."""
    answer = result.answer if isinstance(result.answer, dict) else {}
    if answer and isinstance(predictor, TextPredictor):
        answer = predictor.cells(answer)
    table.add(result.input.row, answer, result.error)
