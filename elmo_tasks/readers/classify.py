import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, MetadataField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token

from elmo_tasks.common.errors import ConfigurationError, check_positive
from elmo_tasks.common.records import Record, read_rows
from elmo_tasks.common.rows import LeftOut, complete_rows, plain_text
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.fields import KnownLabelField, KnownLabelsField
from elmo_tasks.readers.text_reader import DocumentField, TextReader, add_origin, text_of
from elmo_tasks.readers.tokenizers import TextSentences

# The fields of an instance for its first and its second text.
TEXT_FIELDS = ("tokens", "second")

# The namespace of the labels if a text may have several labels.
SEVERAL = "several_labels"


@DatasetReader.register("elmo_classify")
class ClassifyReader(TextReader):
    """
    Reads texts with labels from tables or JSON (see `read_rows`). Rows without a text or a label
    are left out, and so are rows that a user of Prodigy rejected or ignored (see `complete_rows`).
    The log counts the rows left out.

    An instance has the fields `tokens`, `label` and `metadata`, and `second` if a row has two
    texts. `metadata["sentences"]` has the words of each sentence of each text.

    Registered as a `DatasetReader` with name "elmo_classify".

    # Parameters

    texts (default `['text']`): The names of the one or two columns with texts.
    label: The name of the column with the label.
    separator: The characters between the labels of a row. With a separator, a row may have several
        labels or none; in JSON and Parquet, the labels may also be a list. By default, a row has
        one label.
    max_tokens, language: As for `TextSentences`.
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
        num_rows = 0
        rows = self.complete_rows(read_rows(file_path))
        for record in self.shard_iterable(rows):
            num_rows += 1
            with at_line(file_path, record.line):
                texts = [text_of(record.values, name) for name in self.texts]
                label = self.labels_of(record.values)
                sentences = [self.sentences.of_text(text) for text in texts]
            origin = f"{file_path}:{record.line}: "
            instance = self.text_to_instance(sentences, label, origin)
            yield add_origin(instance, record.line, record.values)
        if num_rows == 0 and self.get_worker_info() is None:
            raise ValueError(f"{file_path} has no row with a text and a label")

    def complete_rows(
        self, records: Iterable[Record], left_out: LeftOut | None = None
    ) -> Iterator[Record]:
        """
        Yields the rows that have all texts and a label (see `complete_rows` of `common.rows`). With
        a `separator`, a row may have no label.
        """
        labels = [self.label] if self.separator is None else []
        return complete_rows(records, self.texts, labels, left_out)

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
        words = [
            [[token.text for token in sentence] for sentence in sentences] for sentences in texts
        ]
        fields["metadata"] = MetadataField({"sentences": words})
        if isinstance(label, str):
            fields["label"] = KnownLabelField(label, origin)
        elif label is not None:
            fields["label"] = KnownLabelsField(label, SEVERAL, origin)
        return Instance(fields)

    def labels_of(self, values: dict[str, Any]) -> str | list[str]:
        """
        Returns the label or, with a `separator`, the labels of a row. Raises `ValueError` if a row
        lacks the one label that it must have.
        """
        value = values.get(self.label)
        if self.separator is not None:
            several = value if isinstance(value, list) else plain_text(value).split(self.separator)
            return list(dict.fromkeys(filter(None, map(plain_text, several))))
        if isinstance(value, dict | list) or not plain_text(value):
            raise ValueError(f"{self.label} must be a label, not {value!r:.80}")
        return plain_text(value)
