import os
from collections.abc import Iterator
from typing import NamedTuple

from allennlp.common import FromParams

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.columns import check_columns, read_columns


class TaggedSentence(NamedTuple):
    """
    A sentence whose tokens may have tags.

    # Parameters

    keys: The lemma of each token, or the token itself. Tokens with equal keys count as one word.
    tags: The gold tags of each token: usually one tag; empty if the token has no tag.
    """

    words: list[str]
    keys: list[str]
    tags: list[tuple[str, ...]]


class ColumnReader(FromParams):
    """
    Reads tags of any kind from files in columns: one token on each line, and an empty line after
    each sentence. The columns are separated by spaces and tabs. Lines that begin with `-DOCSTART-`
    are ignored. The text is UTF-8, plain or compressed as `.gz` or `.xz`.

    # Parameters

    columns: The names of all columns of the file, in their order; one of them is `word`.
    tag_column: The name of the column with the tags.
    lemma_column: The name of a column with lemmas, such as `play` for `playing`. Tokens with the
        same lemma count as one word. By default each word is its own lemma.
    untagged: What the tag column has for a token without a tag (context only), such as `_`.
    tag_separator: The string between several tags of a token, such as `|`. By default tags are not
        split.
    """

    def __init__(
        self,
        columns: list[str],
        tag_column: str,
        lemma_column: str = None,
        untagged: str = None,
        tag_separator: str = None,
    ) -> None:
        self.columns = columns
        self.tag_column = tag_column
        self.lemma_column = lemma_column
        self.untagged = untagged
        if tag_separator == "":
            raise ConfigurationError("tag_separator must have a character, but is empty")
        self.tag_separator = tag_separator
        self._chosen = ("word", lemma_column or "word", tag_column)
        check_columns(columns, self._chosen)

    def read(self, file_path: str | os.PathLike) -> Iterator[TaggedSentence]:
        """
        Yields the sentences of a file. Raises `ValueError` if a line has the wrong number of
        columns, or if no token of the file has a tag.
        """
        has_tags = False
        for _, (words, keys, tags) in read_columns(file_path, self.columns, self._chosen):
            gold = [self._split(tag) for tag in tags]
            has_tags = has_tags or any(gold)
            yield TaggedSentence(words, keys, gold)
        if not has_tags:
            raise ValueError(
                f"{file_path} has no token with a tag; expected one token a line, with tags"
            )

    def _split(self, tag: str) -> tuple[str, ...]:
        if tag == self.untagged:
            return ()
        tags = (tag,) if self.tag_separator is None else tag.split(self.tag_separator)
        return tuple(filter(None, tags))
