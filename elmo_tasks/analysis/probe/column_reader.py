import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from allennlp.common import FromParams
from allennlp.common.file_utils import cached_path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.sentences import read_lines

# A line with this in its first column begins a document and is no token.
_DOCUMENT = "-DOCSTART-"


class TaggedSentence(NamedTuple):
    """
    A sentence whose tokens may have tags.

    # Parameters

    words : `list[str]`
    keys : `list[str]`
        The lemma of each token, or the token itself: tokens with equal keys have the same tags to
        choose from.
    tags : `list[str]`
        The tag of each token, or an empty string.
    """

    words: list[str]
    keys: list[str]
    tags: list[str]


class ColumnReader(FromParams):
    """
    Reads tags of any kind from files in columns: one token a line, and an empty line after each
    sentence. The columns are separated by spaces and tabs. Lines that begin with `-DOCSTART-` are
    ignored. The text is UTF-8, plain or packed as `.gz` or `.xz`.

    # Parameters

    columns : `list[str]`
        The names of all columns of the file, in their order; one of them is `word`.
    tag_column : `str`
        The name of the column with the tags.
    lemma_column : `str`, optional
        The name of a column with lemmas, such as `play` for `playing`, if words of the same lemma
        have the same tags to choose from. By default each word is its own lemma.
    untagged : `str`, optional
        The tag of tokens without a tag, which are used as context only.
    """

    def __init__(
        self,
        columns: list[str],
        tag_column: str,
        lemma_column: str = None,
        untagged: str = None,
    ) -> None:
        self.columns = columns
        self.tag_column = tag_column
        self.lemma_column = lemma_column
        self.untagged = untagged
        for name in ("word", tag_column, lemma_column or "word"):
            if columns.count(name) != 1:
                raise ConfigurationError(
                    f"the columns must have {name!r} exactly once, but are {', '.join(columns)}"
                )

    def read(self, file_path: str | os.PathLike) -> Iterator[TaggedSentence]:
        """
        Yields the sentences of a file. Raises `ValueError` with the file and the line if a line has
        another number of columns, and with the file if no token has a tag.
        """
        names = ("word", self.lemma_column or "word", self.tag_column)
        indices = [self.columns.index(name) for name in names]
        sentence = TaggedSentence([], [], [])
        has_tags = False
        for line_number, line in enumerate(read_lines(cached_path(file_path)), start=1):
            values = re.findall(r"[^ \t\r\n]+", line)
            if not values or values[0] == _DOCUMENT:
                if sentence.words:
                    yield sentence
                sentence = TaggedSentence([], [], [])
                continue
            if len(values) != len(self.columns):
                raise ValueError(
                    f"{file_path}:{line_number}: expected {len(self.columns)} columns "
                    f"({' '.join(self.columns)}), but got {len(values)}: {line.strip()!r}"
                )
            word, key, tag = (values[index] for index in indices)
            tag = "" if tag == self.untagged else tag
            has_tags = has_tags or tag != ""
            for column, value in zip(sentence, (word, key, tag)):
                column.append(value)
        if sentence.words:
            yield sentence
        if not has_tags:
            raise ValueError(
                f"{file_path} has no token with a tag; expected one token a line, with tags"
            )
