import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import tee

from allennlp.common.checks import check_for_gpu
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import Record
from elmo_tasks.common.text import listed, printable
from elmo_tasks.in_allennlp.config_names import configs_by_name
from elmo_tasks.predictors.stream import GROUP, reason, stream
from elmo_tasks.predictors.text_inputs import BadLine, Inputs, read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor, as_json, one_line, with_fields


@configs_by_name()
def predict(args: argparse.Namespace) -> None:
    """Runs `elmo-tasks predict`."""
    if args.silent and not args.output:
        raise ConfigurationError("--silent without --output: there would be no output")
    check_for_gpu(args.cuda_device)
    archive = open_archive(args.archive_file, args.cuda_device, args.overrides)
    predictor = Predictor.from_archive(archive)
    inputs = read_inputs(args.input_file, predictor, args.column, not args.no_header)
    # Who types an input waits for its answer.
    is_typed = args.input_file == "-" and sys.stdin.isatty()
    batch_size = args.batch_size or (1 if is_typed else GROUP)
    answers = answers_to(inputs, predictor, batch_size, args.jsonl)
    with open(args.output, "w", encoding="utf-8") if args.output else nullcontext() as output:
        for answer in answers:
            if not args.silent:
                print(answer, end="", flush=True)
            if output is not None:
                output.write(answer)


def answers_to(
    inputs: Inputs, predictor: Predictor, batch_size: int = GROUP, jsonl: bool = False
) -> Iterator[str]:
    """
    Yields the answer to each input, with a line end: text if the predictor is a `TextPredictor`,
    but JSON if the inputs are JSON or `jsonl`. An input that has no answer has a line that says
    why: `ERROR line 3: the reason`, or `{"error": "the reason", "line": 3}`. Raises `ValueError` at
    the end if an input had no answer, or the file no input.
    """
    in_json = jsonl or inputs.are_json or not isinstance(predictor, TextPredictor)
    records, copies = tee(inputs.records)
    asked = (each.error if isinstance(each, BadLine) else each.values for each in copies)
    answers = stream(predictor.predict_batch_json, asked, batch_size)
    num_inputs, failed, first_reason = 0, list[int](), ""
    for record, answer in zip(records, answers, strict=True):
        num_inputs += 1
        if isinstance(answer, Exception):
            failed.append(record.line)
            first_reason = first_reason or reason(answer)
            yield _error_line(reason(answer), record, predictor, in_json)
        elif in_json:
            yield predictor.dump_line(answer)
        else:
            yield _with_fields(predictor.dump_text(answer), _fields(record, predictor))
    if num_inputs == 0:
        raise ValueError(
            f"{inputs.name} has no input: expected a line of text or JSON, or a row below the "
            "header of a table"
        )
    if failed:
        raise ValueError(
            f"{inputs.name}:{failed[0]}: {first_reason}; inputs without an answer: {len(failed)} "
            f"of {num_inputs}, in line {listed(list(map(str, failed)))}"
        )


def _fields(record: Record | BadLine, predictor: Predictor) -> JsonDict:
    """Returns the fields of an input that its answer gives back."""
    return predictor.further_fields(record.values) if isinstance(predictor, TextPredictor) else {}


def _error_line(why: str, record: Record | BadLine, predictor: Predictor, in_json: bool) -> str:
    """Returns what stands in the place of an answer."""
    fields = _fields(record, predictor)
    if in_json:
        return f"{as_json(with_fields({'error': why, 'line': record.line}, fields))}\n"
    return _with_fields(printable(f"ERROR line {record.line}: {why}") + "\n", fields)


def _with_fields(text: str, fields: JsonDict) -> str:
    """Adds the further fields of an input at the end of the first line of its text answer."""
    first, end, rest = text.partition("\n")
    shown = [printable(one_line(f"{name}: {value}")) for name, value in fields.items()]
    return "\t".join([first, *shown]) + end + rest
