import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token

from elmo_tasks.readers.entities import TagError, has_ends, read_entities, write_tags
from elmo_tasks.readers.plain_tags_field import PlainTagsField
from elmo_tasks.readers.spacy_tokenizer import ElmoSpacyTokenizer
from elmo_tasks.readers.tagged_file import TaggedSentence, read_tagged
from elmo_tasks.readers.tags_field import TagsField
from elmo_tasks.readers.text_reader import TextReader

# The tagging scheme that a model of spans learns.
_SCHEME = "BIOUL"


@DatasetReader.register("elmo_tag")
class TagReader(TextReader):
    """
    Reads sentences with tagged tokens or labelled spans: from CoNLL-U (`.conllu`), from JSON lines
    (`.jsonl`), or from columns; see `read_tagged`.

    An instance has the fields `tokens`, `tags` and `metadata`. The words are `metadata["tokens"]`.

    Registered as a `DatasetReader` with name "elmo_tag".

    # Parameters

    column (default `'upos'`): The name of what is learnt: a column of CoNLL-U or of `columns`, or a
        field in JSON.
    spans (default `False`): Whether spans of tokens have labels. Tags are then learnt as BIOUL.
        They are read as BIOUL or BIOES if a tag of the file marks an end, and otherwise as IOB1 or
        BIO.
    columns (default `['word', 'tag']`): Names of all columns of files in columns, in their order;
        one of them must be `word`.
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
        self.tokenizer = ElmoSpacyTokenizer(language)

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        sentences = list(self.sentences(file_path))
        if not sentences:
            raise ValueError(f"{file_path} has no sentence")
        scheme = None
        if self.spans and has_ends(tag for each in sentences for tag in each.tags):
            scheme = _SCHEME
        for sentence in self.shard_iterable(sentences):
            tags = sentence.tags
            if self.spans:
                tags = _rewritten(file_path, sentence, scheme)
            origin = (str(file_path), sentence.line_number)
            yield self.text_to_instance(list(map(Token, sentence.words)), tags, origin)

    def text_to_instance(
        self,
        tokens: Sequence[Token],
        tags: list[str] | None = None,
        origin: tuple[str, int] | None = None,
    ) -> Instance:
        """
        # Parameters

        tokens: At least one token.
        tags: A tag for each token, in BIOUL for spans.
        origin: The file and the line of the sentence, for errors.
        """
        if not tokens:
            raise ValueError("a sentence must have at least one token")
        text = TextField(list(tokens))
        fields: dict[str, Field] = {
            "tokens": text,
            "metadata": MetadataField({"tokens": [token.text for token in tokens]}),
        }
        if tags is not None and self.spans:
            fields["tags"] = TagsField(tags, text, _SCHEME, origin)
        elif tags is not None:
            fields["tags"] = PlainTagsField(tags, text)
        return Instance(fields)

    def sentences(self, file_path: str | os.PathLike) -> Iterator[TaggedSentence]:
        """Yields the sentences of a file of training data, whatever the file's format."""
        return read_tagged(file_path, self.column, self.columns, self.tokenizer.tokenize)

    def asked(self, inputs: Any) -> Any:
        """Turns a row of training data into a predictor's input, without the tags."""
        match inputs:
            case {"tokens": words}:
                return {"tokens": words}
            case {"text": str(text)} | {"sentence": str(text)}:
                return {"sentence": text}
        return inputs


def _rewritten(
    file_path: str | os.PathLike, sentence: TaggedSentence, scheme: str | None
) -> list[str]:
    """Returns the tags of a sentence's spans in the scheme that is learnt."""
    try:
        entities = read_entities(sentence.tags, scheme)
    except TagError as error:
        line = sentence.line_number + (error.index if sentence.is_in_rows else 0)
        raise ValueError(f"{file_path}:{line}: {error}") from error
    return write_tags(entities, len(sentence.words), _SCHEME)
