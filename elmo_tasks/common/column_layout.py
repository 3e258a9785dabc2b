"""Describes how the lines of a file in columns are laid out: separator, header, index, comments."""

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

# The columns of CoNLL-U.
CONLLU = "id form lemma upos xpos feats head deprel deps misc".split()

# The name that stands for several columns, one for each predicate of the sentence.
ROLES = "roles"

# The lines that begin or end a document in CoNLL-2003 and CoNLL-2012. They are in no sentence.
_DOCUMENT = re.compile(r"\s*(-DOCSTART-|#(begin|end)\s+document)([\s,;|]|$)")

# A comment, perhaps: `# ` or a hash with a key. A hash with a tab is a word, and so is `#hashtag`.
_COMMENT = re.compile(r"# |#\s*[\w.:]+\s*=")
# A line that begins so is a comment, even if it has as many columns as a token.
_KEY = re.compile(r"#\s*([\w.:]+\s+=\s|(id|sent_id|newdoc|newpar|text|global\.columns)(\s|$))")

BLANKS, TAB = " ", "\t"
# The separator of a word and its tag in a file with a sentence on each line.
IN_LINE = "/"
# The separators of tables.
CSV = (",", ";", "|")
VALUE = re.compile(r"[^ \t]+")


class Layout(NamedTuple):
    """
    How the lines of a file in columns are read.

    # Parameters

    separator: A tab, or `,`, `;` or `|` as in a table, or ` ` for any blanks and tabs. With `/`, a
        line is a sentence of `word/tag`.
    columns: The names of all columns of the file, in their order.
    dropped: The indices of the columns that hold no value of a token, such as an index or the
        number of a sentence.
    counter: The index of the column that counts the tokens of a sentence, if there is one. Tokens
        whose index is no number, such as `3-4` or `5.1`, are left out, and each line with `#` in
        front is a comment.
    sentence: The index of the column that names the sentence of each token, or of its first token.
    header: The line with the names of the columns, or an empty line.
    last_values: Values of the last column. A line that begins with `#` and ends with one of them is
        a token, not a comment.
    """

    separator: str
    columns: Sequence[str]
    dropped: Sequence[int] = ()
    counter: int | None = None
    sentence: int | None = None
    header: str = ""
    last_values: frozenset[str] = frozenset()

    def values(self, line: str) -> list[str]:
        """Returns the values of a line."""
        values = split_line(line, self.separator)
        while len(values) > len(self.columns) and not values[-1] and self.separator != BLANKS:
            values.pop()
        if len(values) != len(self.columns) and self.separator in CSV:
            # A quote that is a word, and not quoted itself.
            values = line.split(self.separator)
        return values

    def rows(self, line: str) -> list[list[str]]:
        """
        Returns the values of each token of a line. A line has several tokens only if the separator
        is `/`.
        """
        if self.separator == IN_LINE:
            return [list(item.rpartition("/")[::2]) for item in line.split()]
        return [self.values(line)]

    def is_comment(self, line: str, is_within: bool) -> bool:
        """
        Returns whether a line is a comment. Within a sentence there are comments only if the tokens
        have an index. Raises `ValueError` if the line may be a comment or a token.
        """
        if not line.startswith("#") or is_document(line):
            return False
        if self.counter is not None or is_within:
            return self.counter is not None
        if not _COMMENT.match(line):
            return False
        values = self.values(line)
        if ROLES in self.columns:
            return _KEY.match(line) is not None or len(values) < len(self.columns) - 1
        if len(values) != len(self.columns) or _KEY.match(line):
            return True
        if values[-1] in self.last_values or values[-1] == "#":
            return False
        if values[-1].isdecimal() and not any(map(str.isdecimal, self.last_values)):
            return True
        raise ValueError(
            f"{line!r:.80} may be a comment, or the word # with a tag that no other word has: "
            "remove the comment, or put a tab behind the word"
        )

    @property
    def names(self) -> list[str]:
        """The names of the columns with values of a token."""
        return [name for index, name in enumerate(self.columns) if index not in self.dropped]


def is_document(line: str) -> bool:
    """Returns whether a line begins or ends a document. Such a line is no token."""
    return _DOCUMENT.match(line) is not None


def may_be_comment(line: str) -> bool:
    """
    Returns whether a line begins with a `#` as comments do. It may also be a token whose word is
    `#`.
    """
    return _COMMENT.match(line) is not None


def split_line(line: str, separator: str) -> list[str]:
    """Returns the values of a line."""
    if separator == BLANKS:
        return VALUE.findall(line)
    if separator in CSV:
        try:
            (values,) = csv.reader([line], delimiter=separator)
        except (ValueError, csv.Error):
            values = line.split(separator)
        return [value.strip(" ") for value in values]
    return [value.strip(" ") for value in line.split(separator)]
