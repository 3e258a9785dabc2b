"""The inputs of a predictor, and the lines of a file from which they come."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.common.util import JsonDict

# The name of a file that has none.
STDIN = "standard input"


class NoText(Exception):
    """The reason why a row without a text has no answer."""


class Input(NamedTuple):
    """
    An input for a predictor, and the line of the file from which it comes.

    # Parameters

    file, line: As for `Record`.
    values: The input, with fields that the predictor does not read.
    row: The fields or columns as they are in the file.
    error: Why the input cannot be given to the predictor, or `None`.
    lines: For a sentence in columns, the line number of each token.
    """

    file: str
    line: int
    values: JsonDict
    row: JsonDict
    error: Exception | None = None
    lines: Sequence[int] = ()


class Inputs(NamedTuple):
    """
    The inputs of a file, and the kind of the file: `json`, `text`, a kind of table (`csv`, `tsv`,
    `parquet`, `xlsx`), or `columns`, where the answer is a tag for each token.
    """

    name: str
    kind: str
    records: Iterator[Input]

    @property
    def are_json(self) -> bool:
        return self.kind == "json"
