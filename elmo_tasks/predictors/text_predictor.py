from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.json_text import parse_json

FORMATS = ("json", "text")


class TextPredictor(Predictor):
    """
    The base class of the predictors. Beside JSON, `allennlp predict` can give them plain text and
    tables (see `read_inputs`), and they can answer in lines for people.

    # Parameters

    model : `Model`
    dataset_reader : `DatasetReader`
    frozen : `bool`, optional (default = `True`)
        Whether the model is put into evaluation mode.
    format : `str`, optional
        The form of an answer in the output of `allennlp predict`: a line of `json`, or of `text`
        for people. By default it is text for inputs in plain text or tables, and JSON for inputs in
        JSON.
    column : `str`, optional
        The column of a table that has the texts. By default it has the name of the input, such as
        `sentence`, or is named `text`.
    split : `bool`, optional (default = `False`)
        Whether a line of plain text, or a field of a table, is cut into sentences by spaCy's
        sentencizer, so that each sentence has an answer of its own.
    """

    # The keys of an input. A subclass sets them.
    input_names: tuple[str, ...]

    # Whether `allennlp evaluate` writes an answer of this predictor for each instance.
    answers_instances = True

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        format: str = None,
        column: str = None,
        split: bool = False,
    ) -> None:
        super().__init__(model, dataset_reader, frozen)
        if format not in (None, *FORMATS):
            raise ConfigurationError(f"format must be 'json' or 'text', not {format!r}")
        if len(self.input_names) > 1 and (split or column is not None):
            raise ConfigurationError(
                f"this model reads {' and '.join(self.input_names)}, which are columns of a table "
                "by these names: leave out column and split"
            )
        self.format = format
        self.column = column
        self.split = split

    def load_line(self, line: str) -> JsonDict:
        return parse_json(line)

    def dump_line(self, outputs: JsonDict) -> str:
        """Returns an answer as a line of JSON or of text, with the line end."""
        if self.format == "text":
            return "".join(f"{line}\n" for line in self.readable(outputs))
        return super().dump_line(outputs)

    def readable(self, answer: JsonDict) -> list[str]:
        """Returns an answer in lines for people."""
        raise NotImplementedError


def one_line(*parts: Any) -> str:
    """Returns texts and probabilities on one line, between tabs."""
    texts = [f"{part:.2f}" if isinstance(part, float) else str(part) for part in parts]
    return "\t".join(" ".join(text.split()) for text in texts)
