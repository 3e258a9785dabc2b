import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.columns import CONLLU, check_columns
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import kind_of, read_records
from elmo_tasks.common.text import nearest_or_all
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.entities import Entity, TagError, has_ends, read_entities, write_tags
from elmo_tasks.readers.fields import TagsField
from elmo_tasks.readers.text_reader import TextReader
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer


class TaggedSentence(NamedTuple):
    """
    A sentence of a file: the line, the word and the tag of each token. If the file has spans in
    characters, the tags are in BIO.
    """

    lines: Sequence[int]
    words: list[str]
    tags: list[str]


@DatasetReader.register("elmo_tag")
@DatasetReader.register("elmo_conll", constructor="of_entities")
class TagReader(TextReader):
    """
    Reads sentences with tagged tokens or labelled spans, from

    - `.conllu`: CoNLL-U, without the ranges of multiword tokens and without empty nodes;
    - `.jsonl`, `.json`: an object on each line. It has the list `tokens`, and in the field `column`
      a tag for each token. Or it has a `text`, and in the field `column` spans in characters with
      an exclusive end: `{"start": ..., "end": ..., "label": ...}` or `[start, end, label]`;
    - any other file: columns, such as those of CoNLL-2003 (Tjong Kim Sang and De Meulder 2003), as
      `sentence_columns` reads them.

    An instance has the fields `tokens`, `tags` and `metadata`. The words are `metadata["tokens"]`.

    Registered as a `DatasetReader` with name "elmo_tag", and with name "elmo_conll" for entities in
    columns (see `of_entities`).

    # Parameters

    column (default `'upos'`): What is learnt: a column of CoNLL-U or of `columns`, or a field in
        JSON.
    spans (default `False`): Whether the tags mark spans of tokens, such as entities. Such tags are
        converted to BIOUL. A file is read as BIOUL or BIOES if one of its tags marks an end, and
        otherwise by conlleval's rules, which fit IOB1 and BIO.
    columns (default `['word', 'tag']`): Names of all columns of files in columns, among them
        `word`.
    token_indexers: By default word ids under the name `tokens`.
    language (default `'en'`): spaCy's code of the language. Its rules cut raw text into words.
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
        # The kind of the files, if their names do not tell it.
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
        Makes a reader of entities in files in columns, whatever their names.

        # Parameters

        columns (default `['word', 'pos', 'chunk', 'ner']`): Names of all columns of the files.
        tag_column (default `'ner'`): The column with the tags to learn.
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
        sentences = list(self.sentences(file_path))
        if not sentences:
            raise ValueError(f"{file_path}:1: there is no sentence: expected a token on each line")
        ends = has_ends(tag for each in sentences for tag in each.tags)
        for sentence in self.shard_iterable(sentences):
            tags = sentence.tags
            if self.spans:
                tags = _as_bioul(file_path, sentence, "BIOUL" if ends else None)
            origins = [f"{file_path}:{line}: " for line in sentence.lines]
            yield self.text_to_instance(list(map(Token, sentence.words)), tags, origins)

    def text_to_instance(
        self,
        tokens: Sequence[Token],
        tags: list[str] | None = None,
        origins: Sequence[str] | None = None,
    ) -> Instance:
        """
        Makes an instance of at least one token. `tags`, if given, has a tag for each token; the
        tags of spans must be in BIOUL. `origins` are the beginnings of error messages: the file and
        the line of each tag.
        """
        if not tokens:
            raise ValueError("a sentence must have at least one token")
        text = TextField(list(tokens))
        fields: dict[str, Field] = {
            "tokens": text,
            "metadata": MetadataField({"tokens": [token.text for token in tokens]}),
        }
        if tags is not None and self.spans:
            fields["tags"] = TagsField(tags, text, "BIOUL", origins or [""] * len(tags))
        elif tags is not None:
            fields["tags"] = TagsField(tags, text)
        return Instance(fields)

    def sentences(self, path: str | os.PathLike) -> Iterator[TaggedSentence]:
        """
        Yields the sentences of a file, which is read as a stream. Raises `ConfigurationError` if
        the file has no column `column`, and `ValueError` with file and line if a line cannot be
        read, or a span does not begin and end with a token.
        """
        kind = self._kind or kind_of(path)
        if kind == "json":
            for record in read_records(path):
                with at_line(path, record.line):
                    words, tags = _of_json(record.values, self.column, self.tokenizer.tokenize)
                yield TaggedSentence([record.line] * len(words), words, tags)
            return
        word = "form" if kind == "conllu" else "word"
        if kind != "conllu":
            kind = "columns"
            check_columns(self.columns, (word, self.column))
        elif self.column not in CONLLU:
            nearest = nearest_or_all(self.column, CONLLU)
            raise ConfigurationError(f"CoNLL-U has no column {self.column}{nearest}")
        for record in read_records(path, kind, self.columns):
            words, tags = record.values[word], record.values[self.column]
            yield TaggedSentence(range(record.line, record.line + len(words)), words, tags)


def _as_bioul(
    file_path: str | os.PathLike, sentence: TaggedSentence, scheme: str | None
) -> list[str]:
    try:
        entities = read_entities(sentence.tags, scheme)
    except TagError as error:
        raise ValueError(f"{file_path}:{sentence.lines[error.index]}: {error}") from error
    return write_tags(entities, len(sentence.words), "BIOUL")


def _of_json(
    values: dict[str, Any], column: str, tokenize: Callable[[str], list[Token]]
) -> tuple[list[str], list[str]]:
    match values:
        case {"tokens": [*words]} if _are_words(words) and _are_words(values.get(column)):
            if len(words) != len(values[column]):
                raise ValueError(
                    f"there are {len(words)} tokens, but {len(values[column])} values of {column}"
                )
            return words, values[column]
        case {"text": str(text)} if isinstance(values.get(column), list):
            tokens = tokenize(text)
            spans = [_span(each, tokens, text) for each in values[column]]
            words = [token.ensure_text() for token in tokens]
            return words, _tags(sorted(spans, key=lambda span: span.start), words)
    raise ValueError(
        f'expected an object with "tokens" and "{column}", two lists of equal length, or with '
        f'"text" and "{column}", a list of spans, but got {values!r:.200}'
    )


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) and word for word in value)


def _span(value: Any, tokens: list[Token], text: str) -> Entity:
    match value:
        case {"start": int(start), "end": int(end), "label": str(label)}:
            pass
        case [int(start), int(end), str(label)]:
            pass
        case _:
            raise ValueError(
                'expected a span as {"start": 0, "end": 4, "label": "NAME"} or [0, 4, "NAME"], but '
                f"got {value!r:.80}"
            )
    starts = {token.idx: index for index, token in enumerate(tokens)}
    ends = {token.idx_end: index + 1 for index, token in enumerate(tokens)}
    if start not in starts or end not in ends or start >= end:
        raise ValueError(
            f"the span {start} to {end}, {text[start:end]!r:.80}, does not begin and end with a "
            "token"
        )
    return Entity(label, starts[start], ends[end])


def _tags(spans: list[Entity], words: list[str]) -> list[str]:
    for one, other in zip(spans, spans[1:]):
        if other.start < one.end:
            raise ValueError(
                f"two spans overlap: {' '.join(words[one.start : one.end])!r:.80} and "
                f"{' '.join(words[other.start : other.end])!r:.80}"
            )
    return write_tags(spans, len(words), "BIO")
