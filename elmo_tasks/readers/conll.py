import os
from collections.abc import Iterable

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.columns import check_columns
from elmo_tasks.common.errors import check_choice
from elmo_tasks.common.records import read_records
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.entities import SCHEMES, TagError, has_ends, read_entities, write_tags
from elmo_tasks.readers.spacy_tokenizer import ElmoSpacyTokenizer
from elmo_tasks.readers.tags_field import TagsField
from elmo_tasks.readers.text_reader import TextReader


@DatasetReader.register("elmo_conll")
class ConllReader(TextReader):
    """
    Reads sentences with tagged entities from files in columns, such as those of CoNLL-2003 (Tjong
    Kim Sang and De Meulder 2003). `sentence_columns` describes the format of the files.

    An instance has the fields `tokens`, `tags` and `metadata`. The words are `metadata["tokens"]`.

    Registered as a `DatasetReader` with name "elmo_conll".

    # Parameters

    columns (default `['word', 'pos', 'chunk', 'ner']`): Names of all columns of the file, in their
        order; one of them must be `word`.
    tag_column (default `'ner'`): The name of the column with the tags to learn.
    file_scheme: The scheme of the tags in the file: `IOB1`, `BIO` or `BIOUL` (for BIOES too). A tag
        that the scheme does not allow is an error. By default, a file is read as BIOUL if it has
        tags with L, U, E or S, and otherwise by conlleval's rules, which fit IOB1 and BIO.
    scheme (default `'BIOUL'`): The scheme of the tags to learn: `BIO` or `BIOUL`.
    token_indexers: By default word ids under the name `tokens`.
    tokenizer (default `ElmoSpacyTokenizer()`): Used by predictors for raw text; the files are
        tokenized already.
    """

    def __init__(
        self,
        columns: list[str] = None,
        tag_column: str = "ner",
        file_scheme: str = None,
        scheme: str = "BIOUL",
        token_indexers: dict[str, TokenIndexer] = None,
        tokenizer: Tokenizer = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.columns = columns or ["word", "pos", "chunk", "ner"]
        self.tag_column = tag_column
        self.file_scheme = file_scheme
        self.scheme = scheme
        self.tokenizer = tokenizer or ElmoSpacyTokenizer()
        self._check_settings()

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        sentences = [
            (record.line, (record.values["word"], record.values[self.tag_column]))
            for record in read_records(file_path, "columns", self.columns)
        ]
        if not sentences:
            raise ValueError(f"{file_path}:1: there is no sentence: expected a token on each line")
        file_scheme = self.file_scheme
        if file_scheme is None and has_ends(tag for _, (_, tags) in sentences for tag in tags):
            file_scheme = "BIOUL"
        for line_number, (words, tags) in self.shard_iterable(sentences):
            try:
                entities = read_entities(tags, file_scheme)
            except TagError as error:
                with at_line(file_path, line_number + error.index):
                    raise
            yield self.text_to_instance(
                [Token(word) for word in words],
                write_tags(entities, len(words), self.scheme),
                (str(file_path), line_number),
            )

    def text_to_instance(
        self,
        tokens: list[Token],
        tags: list[str] | None = None,
        origin: tuple[str, int] | None = None,
    ) -> Instance:
        """
        # Parameters

        tokens: At least one token.
        tags: A tag for each token, in the scheme to learn.
        origin: The file and the line of the first token, for errors.
        """
        if not tokens:
            raise ValueError("a sentence must have at least one token")
        text = TextField(tokens)
        fields: dict[str, Field] = {
            "tokens": text,
            "metadata": MetadataField({"tokens": [token.text for token in tokens]}),
        }
        if tags is not None:
            fields["tags"] = TagsField(tags, text, self.scheme, origin)
        return Instance(fields)

    def _check_settings(self) -> None:
        check_columns(self.columns, ("word", self.tag_column))
        if self.file_scheme is not None:
            check_choice("file_scheme", self.file_scheme, SCHEMES)
        check_choice("scheme", self.scheme, ("BIO", "BIOUL"))
