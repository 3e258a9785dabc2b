import argparse
from collections.abc import Iterator
from contextlib import nullcontext

from allennlp.common.checks import check_for_gpu
from allennlp.common.util import JsonDict, lazy_groups_of
from allennlp.predictors import Predictor

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import printable
from elmo_tasks.common.text_files import at_line
from elmo_tasks.in_allennlp.config_names import configs_by_name
from elmo_tasks.predictors.text_inputs import Inputs, read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line


@configs_by_name()
def predict(args: argparse.Namespace) -> None:
    """Runs `elmo-tasks predict`."""
    if args.silent and not args.output:
        raise ConfigurationError("--silent without --output: there would be no output")
    check_for_gpu(args.cuda_device)
    archive = open_archive(args.archive_file, args.cuda_device, args.overrides)
    predictor = Predictor.from_archive(archive)
    inputs = read_inputs(args.input_file, predictor, args.column, not args.no_header)
    answers = answers_to(inputs, predictor, args.batch_size, args.jsonl)
    with open(args.output, "w", encoding="utf-8") if args.output else nullcontext() as output:
        for answer in answers:
            if not args.silent:
                print(answer, end="")
            if output is not None:
                output.write(answer)


def answers_to(
    inputs: Inputs, predictor: Predictor, batch_size: int = 1, as_json: bool = False
) -> Iterator[str]:
    """
    Yields the answer to each input, with a line end: text if the predictor is a `TextPredictor`,
    but JSON if the inputs are JSON or `as_json`. Raises `ValueError` if the file has no input.
    """
    is_empty = True
    for group in lazy_groups_of(inputs.records, batch_size):
        is_empty = False
        first, last = group[0].line, group[-1].line
        with at_line(inputs.name, first if first == last else f"{first}-{last}"):
            asked = [each.values for each in group]
            if len(asked) == 1:
                answers = [predictor.predict_json(asked[0])]
            else:
                answers = predictor.predict_batch_json(asked)
            lines = list(map(predictor.dump_line, answers))
        for each, answer, line in zip(group, answers, lines, strict=True):
            if isinstance(predictor, TextPredictor) and not (inputs.are_json or as_json):
                text, fields = predictor.dump_text(answer), predictor.further_fields(each.values)
                line = _with_fields(text, fields)
            yield line
    if is_empty:
        raise ValueError(
            f"{inputs.name} has no input: expected a line of text or JSON, or a row below the "
            "header of a table"
        )


def _with_fields(text: str, fields: JsonDict) -> str:
    """Adds the further fields of an input at the end of the first line of its text answer."""
    first, end, rest = text.partition("\n")
    shown = [printable(one_line(f"{name}: {value}")) for name, value in fields.items()]
    return "\t".join([first, *shown]) + end + rest
