import os
from collections.abc import Iterable, Iterator, Sequence

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.columns import check_columns
from elmo_tasks.readers.entities import TagError, has_ends, read_entities, write_tags
from elmo_tasks.readers.label_fields import TagsField
from elmo_tasks.readers.tagged_file import TaggedSentence, read_tagged
from elmo_tasks.readers.text_reader import TextReader
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer


@DatasetReader.register("elmo_tag")
@DatasetReader.register("elmo_conll", constructor="of_entities")
class TagReader(TextReader):
    """
    Reads sentences with tagged tokens or labelled spans: from CoNLL-U (`.conllu`), from JSON lines
    (`.jsonl`), or from columns, such as those of CoNLL-2003 (Tjong Kim Sang and De Meulder 2003);
    see `read_tagged`.

    An instance has the fields `tokens`, `tags` and `metadata`. The words are `metadata["tokens"]`.

    Registered as a `DatasetReader` with name "elmo_tag", and with name "elmo_conll" for entities in
    columns (see `of_entities`).

    # Parameters

    column (default `'upos'`): What is learnt: a column of CoNLL-U or of `columns`, or a field in
        JSON.
    spans (default `False`): Whether spans of tokens have labels. Tags are then learnt as BIOUL. A
        file is read as BIOUL or BIOES if one of its tags marks an end, and otherwise by conlleval's
        rules, which fit IOB1 and BIO.
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

        columns (default `['word', 'pos', 'chunk', 'ner']`)
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
            origin = (str(file_path), sentence.line_number)
            yield self.text_to_instance(list(map(Token, sentence.words)), tags, origin)

    def text_to_instance(
        self,
        tokens: Sequence[Token],
        tags: list[str] | None = None,
        origin: tuple[str, int] = ("the text", 1),
    ) -> Instance:
        """
        Makes an instance of at least one token. `tags`, if given, has a tag for each token; the
        tags of spans must be in BIOUL. `origin` is the file and the line of the sentence, for
        errors.
        """
        if not tokens:
            raise ValueError("a sentence must have at least one token")
        text = TextField(list(tokens))
        fields: dict[str, Field] = {
            "tokens": text,
            "metadata": MetadataField({"tokens": [token.text for token in tokens]}),
        }
        if tags is not None and self.spans:
            fields["tags"] = TagsField(tags, text, "BIOUL", origin)
        elif tags is not None:
            fields["tags"] = TagsField(tags, text)
        return Instance(fields)

    def sentences(self, file_path: str | os.PathLike) -> Iterator[TaggedSentence]:
        """Yields the sentences of a file of any format."""
        tokenize = self.tokenizer.tokenize
        return read_tagged(file_path, self.column, self.columns, tokenize, self._kind)


def _as_bioul(
    file_path: str | os.PathLike, sentence: TaggedSentence, scheme: str | None
) -> list[str]:
    try:
        entities = read_entities(sentence.tags, scheme)
    except TagError as error:
        line = sentence.line_number + (error.index if sentence.is_in_rows else 0)
        raise ValueError(f"{file_path}:{line}: {error}") from error
    return write_tags(entities, len(sentence.words), "BIOUL")
