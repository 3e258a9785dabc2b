"""Makes `allennlp predict` read plain text and tables, and name the line of an error."""

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from allennlp.commands import predict
from allennlp.commands.predict import _PredictManager
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.common.batches import groups_of
from elmo_tasks.common.errors import ConfigurationError, raised_here
from elmo_tasks.common.printable import printable
from elmo_tasks.common.program import program
from elmo_tasks.in_allennlp.change import Change
from elmo_tasks.predictors.text_inputs import LocatedInput, read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor, one_line


class PredictManager(_PredictManager):
    """
    Runs a predictor over a file as AllenNLP's class does, but reads the file by `read_inputs` and
    refuses a file without inputs. Prints text answers without their inputs; `elmo-tasks predict`
    prints JSON answers without their inputs, too.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self._output_file is not None:
            # AllenNLP opens the file in the encoding of the locale.
            self._output_file.reconfigure(encoding="utf-8")

    def run(self) -> None:
        if self._dataset_reader is not None:
            super().run()
            return
        inputs = read_inputs(self._input_file, self._predictor)
        if isinstance(self._predictor, TextPredictor) and self._predictor.format is None:
            self._predictor.format = "json" if inputs.are_json else "text"
        index = 0
        for group in groups_of(inputs.located, self._batch_size):
            with _named(inputs.name, group):
                answers = list(self._predict_json([each.json for each in group]))
            for each, answer in zip(group, answers, strict=True):
                if isinstance(self._predictor, TextPredictor) and self._predictor.format == "text":
                    answer = _with_fields(answer, self._predictor.further_fields(each.json))
                self._maybe_print_to_console_and_file(index, answer, json.dumps(each.json))
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
        is_text = getattr(self._predictor, "format", None) == "text"
        if not is_text and program() != "elmo-tasks":
            super()._maybe_print_to_console_and_file(index, prediction, model_input)  # type: ignore
            return
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
def _named(name: str, group: list[LocatedInput]) -> Iterator[None]:
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
        first, last = group[0].line_number, group[-1].line_number
        lines = str(first) if first == last else f"{first}-{last}"
        raise ValueError(f"{name}:{lines}: {error}") from error


def parse_settings(text: str) -> dict[str, Any]:
    """
    Returns the parameters of a predictor from the text of `--predictor-args`. Raises
    `ConfigurationError` if they are not a JSON object.
    """
    try:
        settings = json.loads(text.strip() or "{}")
    except json.JSONDecodeError:
        settings = None
    if not isinstance(settings, dict):
        raise ConfigurationError(
            f"--predictor-args must be a JSON object, such as '{{\"top_k\": 3}}', not {text!r:.80}"
        )
    return settings


def _with_checked_settings(get_predictor: Callable[[argparse.Namespace], Predictor]) -> Any:
    @wraps(get_predictor)
    def get_checked(args: argparse.Namespace) -> Predictor:
        parse_settings(args.predictor_args)
        return get_predictor(args)

    return get_checked


CHANGES = (
    Change(
        predict,
        "_PredictManager",
        PredictManager,
        "Inputs are text, tables or JSON, and an error names their line.",
    ),
    Change(
        predict,
        "_get_predictor",
        _with_checked_settings(predict._get_predictor),
        "Wrong settings of a predictor are refused before its model is loaded.",
    ),
)
