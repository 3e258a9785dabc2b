import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allennlp.commands.predict import _PredictManager
from allennlp.common import logging
from allennlp.common.checks import check_for_gpu
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.common.batches import groups_of
from elmo_tasks.common.errors import ConfigurationError, raised_here
from elmo_tasks.common.printable import printable
from elmo_tasks.common.records import Record
from elmo_tasks.in_allennlp.config_names import configs_by_name
from elmo_tasks.predictors.answers import one_line
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor


@configs_by_name()
def predict(args: argparse.Namespace) -> None:
    """Runs `elmo-tasks predict`, which reads text and tables too."""
    if args.silent and not args.output:
        raise ConfigurationError("--silent without --output: there would be no output")
    logging.FILE_FRIENDLY_LOGGING = args.file_friendly_logging
    settings = _settings(args)
    check_for_gpu(args.cuda_device)
    archive = open_archive(args.archive_file, args.cuda_device, args.overrides, args.weights)
    predictor = Predictor.from_archive(
        archive, args.predictor, args.dataset_reader_choice, extra_args=settings
    )
    manager = PredictManager(
        predictor,
        args.input_file,
        args.output,
        args.batch_size,
        not args.silent,
        args.use_dataset_reader,
        args.multitask_head,
    )
    manager.header = not args.no_header
    manager.run()


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the parameters of the predictor."""
    try:
        settings = json.loads(args.predictor_args.strip() or "{}")
    except json.JSONDecodeError:
        settings = None
    if not isinstance(settings, dict):
        raise ConfigurationError(
            "--predictor-args must be a JSON object, such as '{\"top_k\": 3}', not "
            f"{args.predictor_args!r:.80}"
        )
    if args.jsonl:
        settings["format"] = "json"
    if args.column is not None:
        settings["column"] = args.column
    if args.split:
        settings["split"] = True
    return settings


class PredictManager(_PredictManager):
    """
    Runs a predictor over a file as AllenNLP's class does, but reads the file by `read_inputs`,
    refuses a file without inputs, and prints answers without their inputs.
    """

    # Whether the first row of a table has the names of its columns.
    header = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if self._output_file is not None:
            # AllenNLP opens the file in the encoding of the locale.
            self._output_file.reconfigure(encoding="utf-8")

    def run(self) -> None:
        if self._dataset_reader is not None:
            super().run()
            return
        inputs = read_inputs(self._input_file, self._predictor, self.header)
        if isinstance(self._predictor, TextPredictor) and self._predictor.format is None:
            self._predictor.format = "json" if inputs.are_json else "text"
        index = 0
        for group in groups_of(inputs.records, self._batch_size):
            with _named(inputs.name, group):
                answers = list(self._predict_json([each.values for each in group]))
            for each, answer in zip(group, answers, strict=True):
                if isinstance(self._predictor, TextPredictor) and self._predictor.format == "text":
                    answer = _with_fields(answer, self._predictor.further_fields(each.values))
                self._maybe_print_to_console_and_file(index, answer, json.dumps(each.values))
                index += 1
        if self._output_file is not None:
            self._output_file.close()
        if index == 0:
            raise ValueError(
                f"{inputs.name} has no input: expected a line of text or JSON, or a row below the "
                "header of a table"
            )

    def _maybe_print_to_console_and_file(
        self, index: int, prediction: str, model_input: str | None = None
    ) -> None:
        if self._print_to_console:
            print(prediction, end="")
        if self._output_file is not None:
            self._output_file.write(prediction)


def _with_fields(text: str, fields: JsonDict) -> str:
    """Adds further fields at the end of the first line of a text answer."""
    first, end, rest = text.partition("\n")
    shown = [printable(one_line(f"{name}: {value}")) for name, value in fields.items()]
    return "\t".join([first, *shown]) + end + rest


@contextmanager
def _named(name: str, group: list[Record]) -> Iterator[None]:
    """
    Puts the file and the lines of a batch before the message of a `ValueError`, if this package
    raised the error to refuse an input. Other errors may be bugs, and stay as they are.
    """
    try:
        yield
    except ConfigurationError:
        raise
    except ValueError as error:
        if not raised_here(error):
            raise
        first, last = group[0].line, group[-1].line
        lines = str(first) if first == last else f"{first}-{last}"
        raise ValueError(f"{name}:{lines}: {error}") from error
