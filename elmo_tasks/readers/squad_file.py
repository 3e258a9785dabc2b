import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

from allennlp.data import Token

from elmo_tasks.common.text import parse_json
from elmo_tasks.common.text_files import read_lines

# The names of JSON's types in errors.
_NAMES = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}


class GoldAnswer(NamedTuple):
    """An answer, and the offset of its first character in the passage (`answer_start`)."""

    text: str
    start: int

    def is_in(self, passage: str) -> bool:
        """Returns whether the text is not empty and stands in the passage at `start`."""
        return self.text != "" and self.start >= 0 and passage.startswith(self.text, self.start)


class Question(NamedTuple):
    """
    A question about a passage.

    # Parameters

    id: The id that the file gives it.
    is_impossible: Whether the file says that the passage does not answer the question.
    path: The question's location in the JSON, such as `data[0].paragraphs[2].qas[1]`.
    """

    id: str
    question: str
    passage: str
    answers: list[GoldAnswer]
    is_impossible: bool
    path: str


class Passage(NamedTuple):
    """
    A passage's raw text with the character offsets at which its tokens start and end. Offsets count
    the characters of a Python string, with exclusive ends. A span of tokens includes its last
    token, as in the labels of a question.
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str, tokens: list[Token]) -> "Passage":
        return cls(text, [token.idx for token in tokens], [token.idx_end for token in tokens])

    def tokens_of(self, start: int, end: int) -> tuple[int, int] | None:
        """
        Returns the indices of the first and the last token that overlap `text[start:end]`, or
        `None` if no token does.
        """
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end) - 1
        return (first, last) if first <= last else None

    def characters_of(self, first: int, last: int) -> tuple[int, int]:
        """Returns the character offsets at which token `first` starts and token `last` ends."""
        return self.starts[first], self.ends[last]

    def text_of(self, first: int, last: int) -> str:
        start, end = self.characters_of(first, last)
        return self.text[start:end]


def read_squad(file_path: str | os.PathLike) -> list[Question]:
    """
    Returns the questions of a file in SQuAD's format. Raises `ValueError` with the file, and the
    line or the path in the JSON, if it has another format.
    """
    text = "\n".join(read_lines(file_path))
    try:
        parsed = parse_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise ValueError(f"{file_path}:{line}: not JSON: {error}") from error
    try:
        questions = list(parse_squad(parsed))
        if not questions:
            raise ValueError("the file: there is no question")
    except ValueError as error:
        raise ValueError(f"{file_path}: {error}") from error
    return questions


def parse_squad(content: Any) -> Iterator[Question]:
    """
    Yields the questions in the content of a file. Raises `ValueError` with the path in the JSON if
    it has another shape.
    """
    for article_path, article in _list(content, "data", ""):
        for paragraph_path, paragraph in _list(article, "paragraphs", article_path, False):
            qas = list(_list(paragraph, "qas", paragraph_path, False))
            passage = _get(paragraph, "context", str, paragraph_path) if qas else ""
            for path, qa in qas:
                yield Question(
                    id=_get(qa, "id", str, path),
                    question=_get(qa, "question", str, path),
                    passage=passage,
                    answers=[
                        GoldAnswer(_get(each, "text", str, at), _get(each, "answer_start", int, at))
                        for at, each in _list(qa, "answers", path, False)
                    ],
                    is_impossible="is_impossible" in qa and _get(qa, "is_impossible", bool, path),
                    path=path,
                )


def _get(parent: Any, key: str, kind: type, path: str) -> Any:
    where = f"{path}." if path else ""
    if not isinstance(parent, dict) or key not in parent:
        raise ValueError(
            f"{path or 'the file'}: expected an object with {key!r}, but got {parent!r:.80}"
        )
    value = parent[key]
    # `isinstance` would take `true` for an int.
    if type(value) is not kind:
        raise ValueError(f"{where}{key}: expected {_NAMES[kind]}, but got {value!r:.80}")
    return value


def _list(parent: Any, key: str, path: str, required: bool = True) -> Iterator[tuple[str, Any]]:
    """Yields the path, such as `data[0].paragraphs[2]`, and the value of each element of a list."""
    if not required and isinstance(parent, dict) and key not in parent:
        return
    where = f"{path}.{key}" if path else key
    for index, element in enumerate(_get(parent, key, list, path)):
        yield f"{where}[{index}]", element
