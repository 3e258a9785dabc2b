import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from allennlp.data import DatasetReader, Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.fields import TextField

from elmo_tasks.common.loud_words import is_in_capitals
from elmo_tasks.common.rows import plain_text
from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.readers.indexers import WordIdIndexer

# The names of columns with an id of the row.
_IDS = "id _id idx index uid guid uuid key pairid pair_id qid row_id text_id sent_id".split()


class TextReader(DatasetReader):
    """
    The base class of the readers. A subclass passes the records that it reads through
    `shard_iterable`, so each process and worker makes only its own instances. By default all texts
    have word ids under the name `tokens`.

    # Parameters

    examples: Inputs that `elmo-tasks serve` shows for a model of the user's own data.
    lower_capitals: Whether predictors read raw text that is in capitals alone as if it were in
        lower case. A model of mixed text understands it better; answers have the text as it is.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer] = None,
        examples: list[dict[str, str]] = None,
        lower_capitals: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(
            manual_distributed_sharding=True, manual_multiprocess_sharding=True, **kwargs
        )
        self.examples = examples or []
        self.lower_capitals = lower_capitals
        self.token_indexers = token_indexers or {"tokens": WordIdIndexer()}

    def read(self, file_path: str | os.PathLike) -> Iterator[Instance]:
        """
        Yields the instances of a file. Raises `ValueError` if there is none, except in one of
        several processes or workers, whose share of the file may be empty.
        """
        is_empty = self.reads_whole_files
        for instance in super().read(file_path):
            is_empty = False
            yield instance
        if is_empty:
            raise ValueError(f"{file_path}: nothing to learn or to score is left of this file")

    @property
    def reads_whole_files(self) -> bool:
        """Whether no other process or worker reads a share of the files."""
        return self._distributed_info is None and self._worker_info is None

    @property
    def _token_indexers(self) -> dict[str, TokenIndexer]:
        # The name that AllenNLP's Hotflip looks for.
        return self.token_indexers

    def apply_token_indexers(self, instance: Instance) -> None:
        for field in instance.fields.values():
            if isinstance(field, TextField):
                field.token_indexers = self.token_indexers


def passed_through(choose: Callable[[Iterable], Iterable], reader: DatasetReader) -> DatasetReader:
    """
    Returns a copy of a reader with `choose` in place of its `shard_iterable`. The reader itself
    does not change, because it may be reading another file.
    """
    reader = copy.copy(reader)
    reader.shard_iterable = choose  # type: ignore[method-assign]
    return reader


def text_of(values: dict[str, Any], name: str) -> str:
    """
    Returns the text in a field of a record. A number counts as text, because a table of text does
    not distinguish them. Raises `ValueError` if there is no text.
    """
    if name not in values:
        raise ValueError(f"there is no field {name}{nearest_or_all(name, values)}")
    value = values[name]
    if isinstance(value, int | float):
        return plain_text(value)
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, not {value!r:.80}")
    return value


def add_origin(instance: Instance, line: int, values: Mapping[str, Any] = {}) -> Instance:
    """
    Adds to the metadata of an instance the number of the `line` at which it begins in its file and,
    if `values` has one, its `id`.
    """
    ids = (value for name, value in values.items() if name.lower() in _IDS)
    id_value = next((value for value in ids if isinstance(value, str | int) and value != ""), None)
    note: dict[str, Any] = {"line": line} if id_value is None else {"line": line, "id": id_value}
    instance["metadata"].metadata.update(note)  # type: ignore[attr-defined]
    return instance


class DocumentField(TextField):
    """
    All tokens of a document in one row, without padding between its sentences. A model divides the
    row into sentences again.
    """

    def __init__(self, sentences: Sequence[list[Token]]) -> None:
        super().__init__([token for sentence in sentences for token in sentence])
        self.sentences = sentences


def sentences_of(text: TextField) -> Sequence[list[Token]]:
    """
    Returns the lists of tokens that a biLM reads one by one: the sentences of a document, or any
    other text as one list.
    """
    return text.sentences if isinstance(text, DocumentField) else [text.tokens]


def with_lowered_capitals(instance: Instance) -> Instance:
    """
    Puts the texts of an instance that are in capitals alone in lower case, for a model to read. The
    metadata, if there are any, then have the words as they were, under `written` and the name of
    the field.
    """
    written = {}
    for name, field in instance.fields.items():
        if isinstance(field, TextField) and is_in_capitals(map(str, field.tokens)):
            written[name] = list(map(str, field.tokens))
            if isinstance(field, DocumentField):
                instance.fields[name] = DocumentField(list(map(_lowered, field.sentences)))
            else:
                instance.fields[name] = type(field)(_lowered(field.tokens))
    if written and "metadata" in instance.fields:
        instance["metadata"].metadata["written"] = written  # type: ignore[attr-defined]
    return instance


def _lowered(tokens: Sequence[Token]) -> list[Token]:
    return [Token(token.ensure_text().lower()) for token in tokens]


class PassageField(TextField):
    """
    A text field that several instances share, such as the passage of several questions. It is
    indexed only once, and its char ids are in memory only once.
    """

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self._vocab: Vocabulary | None = None

    def index(self, vocab: Vocabulary) -> None:
        if vocab is not self._vocab:
            super().index(vocab)
            self._vocab = vocab


class JoinedField(TextField):
    """
    Passages one after the other in one row. A passage is indexed only once, even if it is part of
    several rows.
    """

    def __init__(self, passages: Sequence[TextField]) -> None:
        super().__init__([token for passage in passages for token in passage.tokens])
        self.passages = passages

    def index(self, vocab: Vocabulary) -> None:
        for passage in self.passages:
            passage.token_indexers = self.token_indexers
            passage.index(vocab)
        indexed = [passage._indexed_tokens for passage in self.passages]
        self._indexed_tokens = {
            name: {key: [id for field in indexed for id in field[name][key]] for key in ids}
            for name, ids in indexed[0].items()
        }
