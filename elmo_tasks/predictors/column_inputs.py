import logging
from collections.abc import Sequence
from itertools import islice

from allennlp.data import DatasetReader
from allennlp.predictors import Predictor

from elmo_tasks.common.columns import HEAD, has_span_tags, read_head, sentence_columns, with_advice
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import Record, suffix_of
from elmo_tasks.common.text_files import numbered_lines
from elmo_tasks.predictors.input_records import STDIN, Input, Inputs
from elmo_tasks.predictors.text_predictor import TextPredictor
from elmo_tasks.readers.tag import TagReader

logger = logging.getLogger(__name__)

# So few lines may have the same number of words by chance.
_FEW = 8


def has_columns_of_tags(path: str, kind: str, predictor: Predictor) -> bool:
    """
    Returns whether a file for a tagger has words and tags in columns. Logs how the file is read.
    """
    reader = predictor._dataset_reader
    if path == "-" or kind not in ("text", "csv", "tsv") or not isinstance(reader, TagReader):
        return False
    labels = predictor._model.vocab.get_token_to_index_vocabulary("labels")
    is_in_columns = reader.has_columns(path, labels) or (reader.spans and has_span_tags(path))
    if is_in_columns:
        logger.info("%s is read as columns: a token on each line", path)
    elif kind == "text" and suffix_of(path) not in ("", ".txt"):
        logger.info("%s is read as plain text: a sentence on each line", path)
    return is_in_columns


def column_inputs(path: str, kind: str, predictor: TextPredictor) -> Inputs:
    """Returns the sentences of a file in CoNLL-U or in columns."""
    if path == "-" or "tokens" not in predictor.other_names:
        raise ConfigurationError(
            f"{STDIN if path == '-' else path} is in columns, which are read only from a file "
            "and only for a model of single sentences: give text or JSON"
        )
    word = "form" if kind == "conllu" else "word"
    sentences = sentence_columns(
        numbered_lines(path), path, kind, columns_for(path, kind, predictor._dataset_reader)
    )
    sentences = with_advice(sentences, "or write each sentence on a line of a file .txt")
    tokens = ((line, {"tokens": values[word]}, lines) for line, values, lines in sentences)
    records = (Input(path, line, words, words, lines=lines) for line, words, lines in tokens)
    return Inputs(path, "columns" if "tags" in predictor.columns_of_answer else "text", records)


def columns_for(path: str, kind: str, reader: DatasetReader) -> Sequence[str] | None:
    """
    Returns the names of a file's columns, as the model's reader has them, or `None`. The result is
    `None` if the reader names no columns, or if the file has other columns and itself shows which
    column has the words.
    """
    columns = getattr(reader, "columns", None)
    is_tagger = isinstance(reader, TagReader) and kind == "columns"
    has_others = is_tagger and not read_head(path, columns)[1] and has_span_tags(path)
    return None if has_others else columns


def warn_of_columns(path: str, first: Record, predictor: TextPredictor) -> None:
    """Warns that each line is read as a text, if the file may be a table or in columns."""
    if "\t" in first.values["text"] and not isinstance(predictor._dataset_reader, TagReader):
        logger.warning(
            "%s: each line is a text, and has tabs; if it is a table, name the column of the texts "
            "with --column (and give --no-header if its first line is a row)",
            path,
        )
    elif path != "-" and "\t" not in first.values["text"]:
        try:
            # Sentences in columns end with empty lines; a list of names has as many words, too.
            head = [line for _, line in islice(numbered_lines(path), HEAD)]
            if all(line.strip() for line in head):
                return
            layout, rows = read_head(path)
        except ValueError:
            # The error about a line that cannot be read is raised when this line is reached.
            return
        if len(layout.columns) > 1 and len(rows) >= _FEW:
            logger.warning(
                "%s: each line is a text, though most have %d values; if it is a file in columns, "
                "rename it to .conll",
                path,
                len(layout.columns),
            )
