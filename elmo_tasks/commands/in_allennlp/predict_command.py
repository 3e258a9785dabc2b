import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor
from tqdm import tqdm

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import TABLES
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.predictors.answer_columns import AnswerColumns
from elmo_tasks.predictors.answer_lines import (
    Answered,
    add_to,
    answer_inputs,
    json_of_answer,
    text_of_answer,
)
from elmo_tasks.predictors.answer_tables import AnswerTable, delimiter_for, form_of, write_text
from elmo_tasks.predictors.input_records import Inputs
from elmo_tasks.predictors.stream import GROUP
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor
from elmo_tasks.training.config_names import configs_by_name

_T = TypeVar("_T")


@configs_by_name()
def predict(args: argparse.Namespace) -> None:
    """Runs `elmo-tasks predict`."""
    if args.silent and not args.output:
        raise ConfigurationError("--silent without --output: there would be no output")
    # A name of the output that cannot be used is refused before the model is opened.
    form_of(args.output, "text", args.jsonl)
    shared_fields = shared_of(args)
    archive = open_archive(args.archive_file, args.cuda_device, args.overrides)
    predictor = Predictor.from_archive(archive)
    inputs = read_inputs(args.input_file, predictor, args.column, not args.no_header, shared_fields)
    form = form_of(args.output, inputs.kind, args.jsonl, inputs.name)
    # A person who types an input waits for its answer.
    is_typed = args.input_file == "-" and sys.stdin.isatty()
    batch_size = args.batch_size or (1 if is_typed else GROUP)
    # Answers that appear on the terminal show how far the command is.
    is_shown = args.output is None and sys.stdout.isatty()
    answers = tqdm(
        answer_inputs(inputs, predictor, batch_size),
        "answers",
        unit=" inputs",
        disable=is_shown or None,
    )
    if args.output is None:
        for result in answers:
            print(line_of(result, predictor, form), end="", flush=True)
    else:
        write_answers(answers, predictor, inputs, args.output, form, not args.no_header)


def shared_of(args: argparse.Namespace) -> JsonDict:
    """Returns the texts and settings that the options set for all inputs."""
    shared_fields: JsonDict = {}
    if args.passage is not None:
        if args.passage == args.input_file == "-":
            raise ConfigurationError("passage and questions cannot both be the standard input")
        shared_fields["passage"] = "\n".join(read_lines(args.passage))
        if not shared_fields["passage"].strip():
            raise ValueError(f"{args.passage}: there is no word in the passage")
    if args.top_k is not None:
        shared_fields["top_k"] = args.top_k
    return shared_fields


def line_of(result: Answered, predictor: Predictor, form: str) -> str:
    """
    Returns an answer as text or JSON. The answer of a predictor from elsewhere is always JSON.
    """
    if form == "text" and isinstance(predictor, TextPredictor):
        return text_of_answer(result, predictor)
    return json_of_answer(result, predictor)


def write_answers(
    answers: Iterable[Answered],
    predictor: Predictor,
    inputs: Inputs,
    output: str | os.PathLike,
    form: str,
    header: bool = True,
) -> None:
    """
    Writes answers to a file in the given form. The file appears whole, and only if there is an
    answer. If some inputs cannot be read or answered, the file has the answers to all other inputs.
    Then the `ValueError` is raised.
    """
    failures: list[ValueError] = []
    if form in TABLES:
        delimiter = delimiter_for(output, form, inputs.name, inputs.kind)
        table = AnswerTable(getattr(predictor, "columns_of_answer", ()), delimiter)
        for result in _until_failure(answers, failures):
            add_to(table, result, predictor)
        table.write(output, form, header)
    else:
        lines: Iterator[str] = (line_of(result, predictor, form) for result in answers)
        if form == "columns":
            lines = AnswerColumns(inputs.name, output, predictor).lines(answers)
        write_text(_until_failure(lines, failures), output)
    if failures:
        raise failures[0]


def _until_failure(items: Iterable[_T], failures: list[ValueError]) -> Iterator[_T]:
    """Yields items until a `ValueError` is raised. The error is added to `failures`."""
    try:
        yield from items
    except ValueError as error:
        failures.append(error)
