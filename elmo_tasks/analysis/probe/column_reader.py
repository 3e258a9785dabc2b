import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from allennlp.common import FromParams
from allennlp.common.file_utils import cached_path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.sentences import read_lines

# The first column of a line that begins a document and belongs to no sentence.
_DOCUMENT = "-DOCSTART-"


class TaggedSentence(NamedTuple):
    """
    # Parameters

    words : `list[str]`
    keys : `list[str]`
        What a token's tag is looked up by: its lemma, or itself.
    tags : `list[str]`
        Empty for a token without a tag.
    """

    words: list[str]
    keys: list[str]
    tags: list[str]


class ColumnReader(FromParams):
    """
    Reads tags of any kind from files in columns: a token a line, an empty line after each sentence;
    spaces and tabs, as many as there are, separate the columns. Lines that begin with
    `-DOCSTART-` are no token. The text is UTF-8, and may be packed as `.gz` or `.xz`.

    # Parameters

    columns : `list[str]`
        Names of all columns of the file, in their order; one of them is `word`.
    tag_column : `str`
        The name of the column with the tags.
    lemma_column : `str`, optional
        The name of a column with what words have in common that share their tags, such as `play`
        of `playing`. By default each word stands for itself.
    untagged : `str`, optional
        What stands in place of a tag where there is none; such tokens are context only.
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
                    f"{name!r} must be one of the columns, once, but they are {', '.join(columns)}"
                )

    def read(self, file_path: str | os.PathLike) -> Iterator[TaggedSentence]:
        """
        The sentences of a file. Raises `ValueError` with the file and the line where a column is
        missing or one too many, and where no token has a tag.
        """
        names = ("word", self.lemma_column or "word", self.tag_column)
        places = [self.columns.index(name) for name in names]
        sentence = TaggedSentence([], [], [])
        has_tags = False
        for number, line in enumerate(read_lines(cached_path(file_path)), start=1):
            values = re.findall(r"[^ \t\r\n]+", line)
            if not values or values[0] == _DOCUMENT:
                if sentence.words:
                    yield sentence
                sentence = TaggedSentence([], [], [])
                continue
            if len(values) != len(self.columns):
                raise ValueError(
                    f"{file_path}:{number}: expected {len(self.columns)} columns "
                    f"({' '.join(self.columns)}), but got {len(values)}: {line.strip()!r}"
                )
            word, key, tag = (values[place] for place in places)
            tag = "" if tag == self.untagged else tag
            has_tags = has_tags or tag != ""
            for column, value in zip(sentence, (word, key, tag)):
                column.append(value)
        if sentence.words:
            yield sentence
        if not has_tags:
            raise ValueError(f"{file_path} has no token with a tag: expected a token a line")
