"""Makes `allennlp predict` read plain text and tables, and name the line of what is wrong."""

import json
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from allennlp.commands import predict
from allennlp.commands.predict import _PredictManager

from elmo_tasks.common.batches import groups_of
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.text_inputs import LocatedInput, read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor


class PredictManager(_PredictManager):
    """
    Runs a predictor over a file as AllenNLP's class does, but reads the file by `read_inputs`, and
    prints answers in text as they are, without the inputs.
    """

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
                self._deliver(index, each, answer)
                index += 1
        if self._output_file is not None:
            self._output_file.close()

    def _deliver(self, index: int, asked: LocatedInput, answer: str) -> None:
        if getattr(self._predictor, "format", None) != "text":
            self._maybe_print_to_console_and_file(index, answer, json.dumps(asked.json))
            return
        if self._print_to_console:
            print(answer, end="")
        if self._output_file is not None:
            self._output_file.write(answer)


@contextmanager
def _named(name: str, group: list[LocatedInput]) -> Iterator[None]:
    """
    Puts the file and the lines of a batch before the message of a `ValueError` with which this
    package refuses an input. Other errors may be bugs, and are left as they are.
    """
    try:
        yield
    except ConfigurationError:
        raise
    except ValueError as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        if not frame.f_globals.get("__name__", "").startswith("elmo_tasks."):
            raise
        first, last = group[0].line_number, group[-1].line_number
        lines = str(first) if first == last else f"{first}-{last}"
        raise ValueError(f"{name}:{lines}: {error}") from error


# `allennlp predict` finds the class by this name.
predict._PredictManager = PredictManager
