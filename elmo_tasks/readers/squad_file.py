import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from elmo_tasks.common.records import kind_of, read_records
from elmo_tasks.common.text import parse_data
from elmo_tasks.common.text_files import at_line, read_lines
from elmo_tasks.readers.passage import GoldAnswer, Question

logger = logging.getLogger(__name__)

# The keys of lists that hold other lists or questions.
_LISTS = ("data", "paragraphs")

# The article of paragraphs that are the whole content, and without a title.
_WHOLE = "the file"


def read_squad(file_path: str | os.PathLike) -> list[Question]:
    """
    Returns the questions of a file: JSON, JSON lines or Parquet (see `parse_squad`). Each question
    gets a unique id. A missing id becomes the question's path. If two questions have the id `q`,
    the second gets `q_2`. If the file has another format, raises `ValueError` with the file and the
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
        return parse_data(text)
    except ValueError as error:
        first = text.lstrip().partition("\n")[0]
        with suppress(ValueError):
            if isinstance(parse_data(first), dict):
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
        raise _type_error(path, "an object with 'data', 'paragraphs', 'qas' or 'question'", content)
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
    # An article or a paragraph may have no question, but then it has no list under another name.
    elif not path.rpartition(".")[2].startswith(_LISTS) or any(
        isinstance(value, list) and value for value in content.values()
    ):
        raise _type_error(path, "an object with 'data', 'paragraphs', 'qas' or 'question'", content)


def _question(qa: Any, passage: str, path: str, article: str) -> Question:
    if not isinstance(qa, dict) or "question" not in qa:
        raise _type_error(path, "an object with 'question'", qa)
    is_impossible = qa.get("is_impossible")
    if str(is_impossible).lower() not in ("true", "false", "none"):
        raise _type_error(_inside(path, "is_impossible"), "true or false", is_impossible)
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
        yield GoldAnswer(*_strip(value, None))
    elif isinstance(value, dict):
        texts, starts = value.get("text"), value.get("answer_start")
        if isinstance(texts, list):
            starts = [None] * len(texts) if starts is None else starts
            if not isinstance(starts, list) or len(starts) != len(texts):
                expected = f"a list of {len(texts)}, as many as text has"
                raise _type_error(_inside(path, "answer_start"), expected, starts)
            for index, pair in enumerate(zip(texts, starts)):
                yield from _answers(dict(zip(("text", "answer_start"), pair)), f"{path}[{index}]")
        else:
            yield GoldAnswer(*_strip(_text(value, "text", path), _start(starts, path)))
    elif value is not None:
        raise _type_error(path, "an answer with 'text' and 'answer_start', or a list", value)


def _strip(text: str, start: int | None) -> tuple[str, int | None]:
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
    raise _type_error(_inside(path, "answer_start"), "a whole number", value)


def _text(parent: dict[str, Any], key: str, path: str) -> str:
    """Returns a text; "" if there is none. An id or an answer may also be a number."""
    value = parent.get(key)
    if value is None and key != "text":
        return ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, str) and not (is_number and key in ("id", "text")):
        raise _type_error(_inside(path, key), "a string", value)
    return str(value)


def _list(parent: dict[str, Any], key: str, path: str) -> list[Any]:
    if not isinstance(parent[key], list):
        raise _type_error(_inside(path, key), "a list", parent[key])
    return parent[key]


def _inside(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _type_error(path: str, expected: str, value: Any) -> ValueError:
    return ValueError(f"{path or 'the file'}: expected {expected}, but got {value!r:.80}")
