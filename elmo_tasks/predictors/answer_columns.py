"""Writes the predicted tags for a file in columns as a further column of the file."""

import os
from collections.abc import Iterable, Iterator, Sequence

from allennlp.predictors import Predictor

from elmo_tasks.common.column_layout import IN_LINE, is_document
from elmo_tasks.common.columns import layout_of_file
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import kind_of, suffix_of
from elmo_tasks.common.text_files import numbered_lines
from elmo_tasks.predictors.answer_lines import Answered
from elmo_tasks.predictors.column_inputs import columns_for

# The value in place of a missing tag, and the name of the new column in a header.
_NO_TAG = "_"
_NAME = "predicted"


class AnswerColumns:
    """
    Writes the lines of a file in columns with one more column: the predicted tag of the token. In a
    header, the new column has the name `predicted`. A line with columns that is not a token gets
    `_`. A line -DOCSTART- gets `O`, because scripts that score such files expect it.

    # Parameters

    path: The file that was read.
    output: The name of the file to write. If it ends in `.tsv`, tabs separate the columns;
        otherwise the separator of the file that was read.

    Raises `ConfigurationError` if the file cannot have a further column.
    """

    def __init__(self, path: str, output: str | os.PathLike, predictor: Predictor) -> None:
        kind = "conllu" if kind_of(path) == "conllu" else "columns"
        columns = columns_for(path, kind, predictor._dataset_reader)
        self._path = path
        self._layout = layout_of_file(path, kind, columns)
        if self._layout.separator == IN_LINE:
            raise ConfigurationError(
                f"{path} has sentences of {'word/tag'!r}, not columns, so the predicted tags "
                "cannot be a further column: choose an output that ends in .csv, .jsonl or "
                ".txt"
            )
        self._separator = "\t" if suffix_of(output) == ".tsv" else self._layout.separator
        labels = predictor._model.vocab.get_token_to_index_vocabulary("labels")
        spaced = next((label for label in labels if len(label.split()) > 1), None)
        if self._separator == " " and spaced is not None:
            raise ConfigurationError(
                f"{path} has blanks between its columns, and the tag {spaced!r} has a blank in "
                "it: choose an output that ends in .tsv"
            )

    def lines(self, answers: Iterable[Answered]) -> Iterator[str]:
        """
        Yields the lines of the file with the new column. If reading or answering fails, yields the
        remaining lines too, and then raises the error.
        """
        numbered = numbered_lines(self._path)
        failure: ValueError | None = None
        try:
            for result in answers:
                for number, tag in zip(result.input.lines, _tags(result), strict=True):
                    for line_number, line in numbered:
                        if line_number == number:
                            yield f"{self._add_value(line, tag)}\n"
                            break
                        yield f"{self._add_no_tag(line)}\n"
        except ValueError as error:
            failure = error
        try:
            for _, line in numbered:
                yield f"{self._add_no_tag(line)}\n"
        except ValueError as error:
            failure = failure or error
        if failure is not None:
            raise failure

    def _add_no_tag(self, line: str) -> str:
        """Returns a line without a token, with its value in the new column."""
        layout = self._layout
        if not line.strip():
            return line
        if layout.header and line == layout.header:
            return self._add_value(line, _NAME)
        values = layout.values(line)
        if is_document(line):
            return self._add_value(line, "O") if len(values) == len(layout.columns) > 1 else line
        has_counter = layout.counter is not None and not line.startswith("#")
        return self._add_value(line, _NO_TAG) if has_counter else line

    def _add_value(self, line: str, tag: str) -> str:
        layout, separator = self._layout, self._separator
        if separator != layout.separator:
            return separator.join(_cell(value, separator) for value in [*layout.values(line), tag])
        if separator == " ":
            line = line.rstrip()
            return f"{line}{_TAB if _TAB in line else separator}{tag}"
        for _ in range(line.count(separator) + 1 - len(layout.columns)):
            # Empty values at the end of a line are no columns.
            line = line.removesuffix(separator)
        return f"{line}{separator}{_cell(tag, separator)}"


_TAB = "\t"


def _tags(result: Answered) -> Sequence[str]:
    """Returns the tags of a sentence, or `_` for each token if the sentence has no answer."""
    if isinstance(result.answer, dict):
        tags: list[str] = result.answer["tags"]
        return tags
    return [_NO_TAG] * len(result.input.lines)


def _cell(value: str, separator: str) -> str:
    if separator == _TAB:
        return value.replace(_TAB, " ")
    if separator in value or '"' in value:
        return '"' + value.replace('"', '""') + '"'
    return value
