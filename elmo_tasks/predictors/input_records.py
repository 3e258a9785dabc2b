"""What a predictor is asked, and where each of it comes from."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.common.util import JsonDict

# The name of a file that has none.
STDIN = "standard input"


class NoText(Exception):
    """The reason why a row without a text has no answer."""


class Input(NamedTuple):
    """
    An input for a predictor, and the place in a file that it comes from.

    # Parameters

    file, line: As for `Record`.
    values: The input of the predictor, with the fields that it does not read.
    row: The fields or columns as they are in the file.
    error: Why the input cannot be given to the predictor, if it cannot.
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
    The inputs of a file, and its kind: `json`, `text`, a kind of table (`csv`, `tsv`, `parquet`,
    `xlsx`), or `columns` for sentences in columns that get a tag for each token.
    """

    name: str
    kind: str
    records: Iterator[Input]

    @property
    def are_json(self) -> bool:
        return self.kind == "json"
