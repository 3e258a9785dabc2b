import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.columns import check_columns, read_head
from elmo_tasks.common.records import Record
from elmo_tasks.common.rows import LeftOut
from elmo_tasks.readers.entities import (
    TagError,
    has_ends,
    read_entities,
    split_tag,
    write_tags,
)
from elmo_tasks.readers.fields import TagsField
from elmo_tasks.readers.tag_file import (
    TaggedSentence,
    column_sentences,
    json_sentences,
    tagged_kind,
)
from elmo_tasks.readers.tag_scheme import TagScheme, learnt_usual
from elmo_tasks.readers.text_reader import TextReader, add_origin
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

# What stands in place of a tag in a file without tags.
_NO_TAG = re.compile(r"[^\w\s]*[OX_?]?[^\w\s]*")


@DatasetReader.register("elmo_tag")
@DatasetReader.register("elmo_conll", constructor="of_entities")
class TagReader(TextReader):
    """
    Reads sentences with tagged tokens or labelled spans, from

    - `.conllu`: CoNLL-U, without the ranges of multiword tokens and without empty nodes;
    - JSON (an object on each line) and Parquet. An object or row has a list `tokens`, and in the
      field named by `column` a tag for each token. Or it has a `text`, and in that field spans in
      characters with an exclusive end: `{"start": ..., "end": ..., "label": ...}`, `[start, end,
      label]`, or spans as doccano, Prodigy and Label Studio write them (see `tagged_words`);
    - any other file: columns, such as those of CoNLL-2003 (Tjong Kim Sang and De Meulder 2003), as
      `sentence_columns` reads them.

    An instance has the fields `tokens`, `tags` and `metadata`. The words are `metadata["tokens"]`.

    Registered as a `DatasetReader` with name "elmo_tag", and with name "elmo_conll" for entities in
    columns (see `of_entities`).

    # Parameters

    column: The tags to learn: the name of a column of CoNLL-U or of `columns`,
        or of a field in JSON.
    spans: Whether the tags mark spans of tokens, such as entities. Such tags are converted to
        BIOUL. If one of a file's tags marks an end, the file is read as BIOUL or BIOES. Otherwise
        it is read by conlleval's rules, which fit IOB1 and BIO.
    columns (default `['word', 'tag']`): Names of all columns of files in columns, among them
        `word`.
    token_indexers: By default word ids under the name `tokens`.
    language: spaCy's code of the language. Its rules cut raw text into words.
    """

    def __init__(
        self,
        column: str = "upos",
        spans: bool = False,
        columns: list[str] = None,
        token_indexers: dict[str, TokenIndexer] = None,
        language: str = "en",
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.column = column
        self.spans = spans
        self.columns = columns or ["word", "tag"]
        self.tokenizer: Tokenizer = ElmoSpacyTokenizer(language)
        # The kind of the files, if `kind_of` is not to tell it.
        self._kind: str | None = None

    @classmethod
    def of_entities(
        cls,
        columns: list[str] = None,
        tag_column: str = "ner",
        token_indexers: dict[str, TokenIndexer] = None,
        tokenizer: Tokenizer = None,
        **kwargs,
    ) -> "TagReader":
        """
        Makes a reader of entities in JSON, or in files in columns with any name.

        # Parameters

        columns (default `['word', 'pos', 'chunk', 'ner']`): Names of all columns of the files.
        tag_column: The column with the tags to learn.
        token_indexers: By default word ids under the name `tokens`.
        tokenizer (default `ElmoSpacyTokenizer()`): Used by predictors for raw text.
        """
        columns = columns or ["word", "pos", "chunk", "ner"]
        check_columns(columns, ("word", tag_column))
        reader = cls(tag_column, True, columns, token_indexers, **kwargs)
        reader.tokenizer = tokenizer or reader.tokenizer
        reader._kind = "columns"
        return reader

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        records = list(self.records(file_path))
        sentences = [sentence for _, sentence in records]
        if not sentences:
            is_json = self.kind_of(file_path) == "json"
            expected = "a sentence in each record" if is_json else "a token on each line"
            raise ValueError(f"{file_path}:1: there is no sentence: expected {expected}")
        rows = list(zip(records, self.learnt_tags(file_path, sentences)))
        scheme = TagScheme.of(sentence.tags for sentence in sentences) if self.spans else None
        for (record, sentence), tags in self.shard_iterable(rows):
            origins = [f"{file_path}:{line}: " for line in sentence.lines]
            tokens = list(map(Token, sentence.words))
            instance = self.text_to_instance(tokens, tags, origins, scheme)
            yield add_origin(instance, record.line, record.values)

    def learnt_tags(
        self, file_path: str | os.PathLike, sentences: Sequence[TaggedSentence]
    ) -> list[list[str]]:
        """
        Returns the tags of the sentences of a file as a model learns them: in BIOUL, if they mark
        spans. Raises `ValueError` with file and line for a tag that does not fit.
        """
        if not self.spans:
            return [sentence.tags for sentence in sentences]
        usual = learnt_usual({tag for sentence in sentences for tag in sentence.tags})
        scheme = "BIOUL" if has_ends(usual.values()) else None
        return [_as_bioul(file_path, sentence, usual, scheme) for sentence in sentences]

    def text_to_instance(
        self,
        tokens: Sequence[Token],
        tags: list[str] | None = None,
        origins: Sequence[str] | None = None,
        scheme: TagScheme | None = None,
    ) -> Instance:
        """
        Makes an instance of at least one token. `tags`, if given, has a tag for each token; the
        tags of spans must be in BIOUL. `origins` are the beginnings of error messages: the file and
        the line of each tag. A vocabulary keeps the `scheme` in which the file has the tags.
        """
        if not tokens:
            raise ValueError("a sentence must have at least one token")
        text = TextField(list(tokens))
        fields: dict[str, Field] = {
            "tokens": text,
            "metadata": MetadataField({"tokens": [token.text for token in tokens]}),
        }
        if tags is not None and self.spans:
            origins = origins or [""] * len(tags)
            fields["tags"] = TagsField(tags, text, "BIOUL", origins, scheme)
        elif tags is not None:
            fields["tags"] = TagsField(tags, text)
        return Instance(fields)

    def sentences(
        self, path: str | os.PathLike, left_out: LeftOut | None = None
    ) -> Iterator[TaggedSentence]:
        """Yields the sentences of a file, as `records` does."""
        for _, sentence in self.records(path, left_out):
            yield sentence

    def records(
        self, path: str | os.PathLike, left_out: LeftOut | None = None
    ) -> Iterator[tuple[Record, TaggedSentence]]:
        """
        Yields the records of a file, which is read as a stream, and the sentence in each. Objects
        of JSON that a user of Prodigy rejected or ignored are left out. `left_out` or the log
        counts these objects. Raises `ConfigurationError` if the file has no column `column`, and
        `ValueError` with file and line if a line cannot be read, or no span begins and ends with a
        word.
        """
        kind = self.kind_of(path)
        if kind == "json":
            return json_sentences(path, self.column, self.tokenizer.tokenize, left_out)
        return column_sentences(path, kind, self.column, self.columns)

    def has_columns(self, path: str | os.PathLike, labels: Collection[str]) -> bool:
        """
        Returns whether a file has the columns of this reader: most lines have the right number of
        values, and most tags are among the `labels` of a model. A file with a placeholder such as
        `_` in place of all tags also counts. The name of the file does not matter.
        """
        layout, rows = read_head(path, self.columns)
        if not rows or not {"word", self.column} <= set(layout.names):
            return False
        index = layout.columns.index(self.column)
        tags = [row[index] for row in rows]
        usual = learnt_usual(set(tags)) if self.spans else {}
        types = {split_tag(label)[1] if self.spans else label for label in labels}
        standard_tags = [usual.get(tag, tag) for tag in tags]
        known_tags = [
            tag for tag in standard_tags if tag == "O" or (split_tag(tag)[1] or tag) in types
        ]
        is_untagged = len(set(tags)) == 1 and _NO_TAG.fullmatch(tags[0]) is not None
        return is_untagged or 2 * len(known_tags) > len(tags)

    def kind_of(self, path: str | os.PathLike) -> str:
        """Returns the kind of a file (see `tagged_kind`)."""
        kind = tagged_kind(path)
        return kind if kind == "json" else self._kind or kind


def _as_bioul(
    file_path: str | os.PathLike,
    sentence: TaggedSentence,
    usual: Mapping[str, str],
    scheme: str | None,
) -> list[str]:
    try:
        entities = read_entities([usual.get(tag, tag) for tag in sentence.tags], scheme)
    except TagError as error:
        raise ValueError(f"{file_path}:{sentence.lines[error.index]}: {error}") from error
    return write_tags(entities, len(sentence.words), "BIOUL")
