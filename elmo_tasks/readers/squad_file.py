import logging
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from allennlp.data import Token

from elmo_tasks.common.records import kind_of, read_records
from elmo_tasks.common.text import parse_json
from elmo_tasks.common.text_files import at_line, read_lines

logger = logging.getLogger(__name__)

# The keys of lists that hold other lists or questions.
_LISTS = ("data", "paragraphs")

# The article of paragraphs that are the whole content, and without a title.
_WHOLE = "the file"

# An answer may be this many characters from its `answer_start`.
_NEAR = 32


class GoldAnswer(NamedTuple):
    """
    An answer, and the offset of its first character in the passage (`answer_start`). The offset is
    `None` if the file has none.
    """

    text: str
    start: int | None

    def is_in(self, passage: str) -> bool:
        """Returns whether the text is not empty and stands in the passage at `start`."""
        at_start = self.start is not None and self.start >= 0
        return self.text != "" and at_start and passage.startswith(self.text, self.start)

    def found_in(self, passage: str) -> "GoldAnswer | None":
        """
        Returns the answer with the right `start`, or `None` if the text is not found. Some files
        count characters beyond U+FFFF twice, as UTF-16 does. If the text is not at `start` by this
        count either, it must occur exactly once near `start`. Without a `start`, it must occur
        exactly once in the passage.
        """
        if self.start is None:
            start, end = 0, len(passage)
        elif self.start < 0:
            return None
        else:
            ahead = passage[: self.start].encode("utf-16-le", "surrogatepass")[: 2 * self.start]
            in_utf_16 = self._replace(start=len(ahead.decode("utf-16-le", "ignore")))
            if self.is_in(passage) or in_utf_16.is_in(passage):
                return self if self.is_in(passage) else in_utf_16
            start, end = max(0, self.start - _NEAR), self.start + _NEAR + len(self.text)
        offset = passage.find(self.text, start, end) if self.text else -1
        is_alone = offset >= 0 and passage.find(self.text, offset + 1, end) < 0
        return self._replace(start=offset) if is_alone else None


class Question(NamedTuple):
    """
    A question about a passage.

    # Parameters

    id: The id in the file. `read_squad` replaces missing and repeated ids by unique ones.
    question, passage: Texts, which are empty if the file has none.
    is_impossible: Whether the file says that the passage does not answer the question.
    article: The `title` of the passage's article. An article without a title has its path in the
        JSON; without articles in the file, this is empty.
    path: The question's path in the JSON, such as `data[0].paragraphs[2].qas[1]`. In JSON lines and
        Parquet, it begins with the number of the line.
    """

    id: str
    question: str
    passage: str
    answers: list[GoldAnswer]
    is_impossible: bool
    path: str
    article: str = ""

    def origin(self, file_path: str | os.PathLike) -> str:
        """Returns the beginning of a message about the question: the file and the path."""
        return f"{file_path}:{'' if self.path[:1].isdigit() else ' '}{self.path}"


class Passage(NamedTuple):
    """
    A passage's raw text, and the character offsets of its tokens. An offset counts the characters
    of a Python string; the end of a token is exclusive. A span of tokens includes its last token,
    as in the labels of a question.
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str, tokens: list[Token]) -> "Passage":
        return cls(text, [token.idx for token in tokens], [token.idx_end for token in tokens])

    @classmethod
    def joined(cls, passages: Sequence["Passage"]) -> "Passage":
        """Joins passages to one, with a blank line between them."""
        text, starts, ends = "", [], []
        for passage in passages:
            text += "\n\n" if text else ""
            starts += [len(text) + start for start in passage.starts]
            ends += [len(text) + end for end in passage.ends]
            text += passage.text
        return cls(text, starts, ends)

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
    Returns the questions of a file: JSON, JSON lines or Parquet (see `parse_squad`). Each question
    has a unique id: a missing id becomes the question's path, and an id ID that an earlier question
    has becomes `ID_2`. If the file has another format, raises `ValueError` with the file, and the
    line or the path in the JSON.
    """
    content = None if kind_of(file_path) == "parquet" else _whole_json(file_path)
    if content is None:
        questions = list(_of_records(file_path))
    else:
        try:
            questions = list(parse_squad(content))
        except ValueError as error:
            raise ValueError(f"{file_path}: {error}") from error
    if not questions:
        raise ValueError(f"{file_path}: the file: there is no question")
    return _with_unique_ids(questions, file_path)


def _whole_json(file_path: str | os.PathLike) -> Any:
    """Returns the value of a JSON file, or `None` if its first line is an object of its own."""
    text = "\n".join(read_lines(file_path))
    try:
        return parse_json(text)
    except ValueError as error:
        first = text.lstrip().partition("\n")[0]
        with suppress(ValueError):
            if isinstance(parse_json(first), dict):
                return None
        line = getattr(error, "lineno", 1)
        raise ValueError(f"{file_path}:{line}: not JSON: {error}") from error


def _of_records(file_path: str | os.PathLike) -> Iterator[Question]:
    """Yields the questions of JSON lines or Parquet. Their paths begin with the line."""
    kind = kind_of(file_path)
    for record in read_records(file_path, kind if kind == "parquet" else "json"):
        with at_line(file_path, record.line):
            questions = list(parse_squad(record.values))
        for question in questions:
            path = f"{record.line}: {question.path}" if question.path else str(record.line)
            is_of_line = question.article == _WHOLE
            article = f"line {record.line}" if is_of_line else question.article
            yield question._replace(path=path, article=article)


def _with_unique_ids(questions: list[Question], file_path: str | os.PathLike) -> list[Question]:
    ids: set[str] = set()
    unique = []
    num_twice = 0
    for question in questions:
        id, number = question.id or question.path, 1
        while id in ids:
            number += 1
            id = f"{question.id or question.path}_{number}"
        num_twice += number > 1
        ids.add(id)
        unique.append(question._replace(id=id))
    without = [question.path for question in questions if not question.id]
    if without:
        message = "%s: %d questions without an id are called by their places, such as %s"
        logger.warning(message, file_path, len(without), without[0])
    if num_twice:
        message = "%s: %d questions with the id ID of an earlier one are called ID_2 and so on"
        logger.warning(message, file_path, num_twice)
    return unique


def parse_squad(content: Any, path: str = "", article: str = "") -> Iterator[Question]:
    """
    Yields the questions in the content of a file. `data` has articles, an article has `paragraphs`,
    and a paragraph has a `context` and the questions `qas`. The content may also be any one of
    these, or a list of them. A question may have a `context` of its own. An article may have a
    `title`, and so may a question with its own `context`.

    A question has `question`, and may have `id`, `is_impossible`, and `answers` or `answer`.
    Answers are an object with `text` and `answer_start`, a list of such objects, an object whose
    `text` and `answer_start` are lists, or texts alone.

    Raises `ValueError` with the path in the JSON if the content has another form.
    """
    if isinstance(content, list):
        for index, element in enumerate(content):
            yield from parse_squad(element, f"{path}[{index}]", article)
        return
    if not isinstance(content, dict):
        raise _unexpected(path, "an object with 'data', 'paragraphs', 'qas' or 'question'", content)
    title = content.get("title")
    article = title if isinstance(title, str) and title else article
    for name in _LISTS:
        if name in content:
            location = path or _WHOLE if name == "paragraphs" else ""
            inside = _list(content, name, path)
            yield from parse_squad(inside, _inside(path, name), article or location)
            return
    passage = _text(content, "context", path)
    if "qas" in content:
        for index, qa in enumerate(_list(content, "qas", path)):
            yield _question(qa, passage, f"{_inside(path, 'qas')}[{index}]", article)
    elif "question" in content:
        yield _question(content, passage, path, article)
    # An article or a paragraph may have no question.
    elif not path.rpartition(".")[2].startswith(_LISTS):
        raise _unexpected(path, "an object with 'data', 'paragraphs', 'qas' or 'question'", content)


def _question(qa: Any, passage: str, path: str, article: str) -> Question:
    if not isinstance(qa, dict) or "question" not in qa:
        raise _unexpected(path, "an object with 'question'", qa)
    is_impossible = qa.get("is_impossible")
    if str(is_impossible).lower() not in ("true", "false", "none"):
        raise _unexpected(_inside(path, "is_impossible"), "true or false", is_impossible)
    name = "answer" if "answers" not in qa else "answers"
    return Question(
        id=_text(qa, "id", path),
        question=_text(qa, "question", path),
        passage=passage,
        answers=list(_answers(qa.get(name), _inside(path, name))),
        is_impossible=str(is_impossible).lower() == "true",
        path=path,
        article=article,
    )


def _answers(value: Any, path: str) -> Iterator[GoldAnswer]:
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from _answers(element, f"{path}[{index}]")
    elif isinstance(value, str):
        yield GoldAnswer(*_stripped(value, None))
    elif isinstance(value, dict):
        texts, starts = value.get("text"), value.get("answer_start")
        if isinstance(texts, list):
            starts = [None] * len(texts) if starts is None else starts
            if not isinstance(starts, list) or len(starts) != len(texts):
                expected = f"a list of {len(texts)}, as many as text has"
                raise _unexpected(_inside(path, "answer_start"), expected, starts)
            for index, pair in enumerate(zip(texts, starts)):
                yield from _answers(dict(zip(("text", "answer_start"), pair)), f"{path}[{index}]")
        else:
            yield GoldAnswer(*_stripped(_text(value, "text", path), _start(starts, path)))
    elif value is not None:
        raise _unexpected(path, "an answer with 'text' and 'answer_start', or a list", value)


def _stripped(text: str, start: int | None) -> tuple[str, int | None]:
    """
    Returns a text without the white space around it, and the offset of its first character that
    stays.
    """
    ahead = len(text) - len(text.lstrip())
    return text.strip(), None if start is None else start + ahead


def _start(value: Any, path: str) -> int | None:
    try:
        if value is None or not isinstance(value, bool) and int(value) == float(value):
            return None if value is None else int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise _unexpected(_inside(path, "answer_start"), "a whole number", value)


def _text(parent: dict[str, Any], key: str, path: str) -> str:
    """Returns a text; "" if there is none. An id or an answer may also be a number."""
    value = parent.get(key)
    if value is None and key != "text":
        return ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, str) and not (is_number and key in ("id", "text")):
        raise _unexpected(_inside(path, key), "a string", value)
    return str(value)


def _list(parent: dict[str, Any], key: str, path: str) -> list[Any]:
    if not isinstance(parent[key], list):
        raise _unexpected(_inside(path, key), "a list", parent[key])
    return parent[key]


def _inside(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _unexpected(path: str, expected: str, value: Any) -> ValueError:
    return ValueError(f"{path or 'the file'}: expected {expected}, but got {value!r:.80}")
