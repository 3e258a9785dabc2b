import logging
import os
from collections.abc import Iterable, Sequence
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, MetadataField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token

from elmo_tasks.common.errors import ConfigurationError, check_positive
from elmo_tasks.common.records import kind_of, read_records
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.fields import KnownLabelField, KnownLabelsField
from elmo_tasks.readers.text_reader import DocumentField, TextReader, check_field, text_of
from elmo_tasks.readers.tokenizers import TextSentences

logger = logging.getLogger(__name__)

# The fields of an instance for its first and its second text.
TEXT_FIELDS = ("tokens", "second")

# The namespace of the labels if a text may have several labels.
SEVERAL = "several_labels"


@DatasetReader.register("elmo_classify")
class ClassifyReader(TextReader):
    """
    Reads texts with labels from tables or JSON lines (see `read_records`). Rows without a word are
    left out and counted in the log.

    An instance has the fields `tokens`, `label` and `metadata`, and `second` if a row has two
    texts. `metadata["sentences"]` has the words of each sentence of each text.

    Registered as a `DatasetReader` with name "elmo_classify".

    # Parameters

    texts (default `['text']`): The names of the one or two columns with texts.
    label (default `'label'`): The name of the column with the label.
    separator: The text between the labels of a row, which may then have several labels or none. In
        JSON and Parquet, the labels may also be a list. By default, a row has one label.
    max_tokens, language (default `'en'`): As for `TextSentences`.
    token_indexers: By default word ids under the name `tokens`.
    """

    def __init__(
        self,
        texts: list[str] = None,
        label: str = "label",
        separator: str = None,
        max_tokens: int = None,
        language: str = "en",
        token_indexers: dict[str, TokenIndexer] = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.texts = ["text"] if texts is None else texts
        self.label = label
        self.separator = separator
        self.sentences = TextSentences(language, max_tokens)
        if not 1 <= len(set(self.texts)) == len(self.texts) <= len(TEXT_FIELDS):
            raise ConfigurationError(
                f"texts must be the names of one or two columns, not {self.texts!r}"
            )
        check_positive("max_tokens", max_tokens)

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        num_rows = num_empty = 0
        kind = kind_of(file_path)
        # Plain text has no labels, so a file of unknown kind is read as JSON.
        records = read_records(file_path, "json" if kind == "text" else kind)
        for record in self.shard_iterable(records):
            values = record.values
            with at_line(file_path, record.line):
                # An empty cell of a table may be `None`.
                texts = [
                    "" if values.get(name, "") is None else text_of(values, name)
                    for name in self.texts
                ]
                label = self.labels_of(values)
            sentences = [self.sentences.of_text(text) for text in texts]
            num_rows += 1
            if all(sentences):
                origin = f"{file_path}:{record.line}: "
                yield self.text_to_instance(sentences, label, origin)
            else:
                num_empty += 1
        if num_empty:
            logger.warning("%s: left out %d rows without a word", file_path, num_empty)
        if num_rows == 0 and self.get_worker_info() is None:
            raise ValueError(f"{file_path} has no row")

    def text_to_instance(
        self,
        texts: Sequence[list[list[Token]]],
        label: str | list[str] | None = None,
        origin: str = "",
    ) -> Instance:
        """
        Makes an instance of the sentences of each text. Raises `ValueError` if a text has no
        sentence. `origin` is the beginning of an error message: the file and the line.
        """
        if not all(texts):
            raise ValueError("a text must have at least one word")
        fields: dict[str, Field] = {
            name: DocumentField(sentences) for name, sentences in zip(TEXT_FIELDS, texts)
        }
        words = [[[token.text for token in each] for each in sentences] for sentences in texts]
        fields["metadata"] = MetadataField({"sentences": words})
        if isinstance(label, str):
            fields["label"] = KnownLabelField(label, origin)
        elif label is not None:
            fields["label"] = KnownLabelsField(label, SEVERAL, origin)
        return Instance(fields)

    def labels_of(self, values: dict[str, Any]) -> str | list[str]:
        """Returns the label or labels of a row. Raises `ValueError` if the one label is missing."""
        value = values.get(self.label)
        if self.separator is not None:
            several = value if isinstance(value, list) else label_text(value).split(self.separator)
            return list(dict.fromkeys(filter(None, map(label_text, several))))
        if isinstance(value, dict | list) or not label_text(value):
            check_field(values, self.label)
            raise ValueError(f"{self.label} must be a label, not {value!r:.80}")
        return label_text(value)


def label_text(value: Any) -> str:
    """Returns a label as text: numbers and truth values as in JSON, and `None` as ""."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value).strip()
