import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from elmo_tasks.common.fetch import local_path


class Answer(NamedTuple):
    """
    # Parameters

    text : `str`
    start : `int`
        The character of the passage that it begins with, by `answer_start`.
    """

    text: str
    start: int

    def is_in(self, passage: str) -> bool:
        """Whether it stands where it says."""
        return self.text != "" and self.start >= 0 and passage.startswith(self.text, self.start)


class Question(NamedTuple):
    """
    # Parameters

    id : `str`
    question, passage : `str`
        Raw text.
    answers : `list[Answer]`
        None where the file has none.
    is_impossible : `bool`
        As version 2.0 of the data says of a question that the passage does not answer.
    path : `str`
        Where it stands in the file.
    """

    id: str
    question: str
    passage: str
    answers: list[Answer]
    is_impossible: bool
    path: str


def read_squad(file_path: str | os.PathLike) -> list[Question]:
    """The questions of a file in SQuAD's format. Raises `ValueError` that says where it is not."""
    with open(local_path(file_path), "rb") as file:
        try:
            content = json.load(file)
        except json.JSONDecodeError as error:
            raise ValueError(f"{file_path}:{error.lineno}: this is no JSON: {error}") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{file_path} is not UTF-8: {error}") from error
    try:
        questions = parse_squad(content)
    except ValueError as error:
        raise ValueError(f"{file_path}: {error}") from error
    if not questions:
        raise ValueError(f"{file_path} has no question")
    return questions


def parse_squad(content: Any) -> list[Question]:
    """
    The questions of a file's content. Articles without paragraphs, and paragraphs without
    questions, are passed over. Raises `ValueError` that names the place of another shape, of a
    passage or a question without a word, and of an id that another question has.
    """
    paths: dict[str, str] = {}
    questions = []
    for question in _questions(content):
        if question.id in paths:
            raise ValueError(
                f"{question.path}.id: {question.id!r} is the id of {paths[question.id]} as well"
            )
        paths[question.id] = question.path
        questions.append(question)
    return questions


def _questions(content: Any) -> Iterator[Question]:
    for article_path, article in _list(content, "data", ""):
        for paragraph_path, paragraph in _list_if_any(article, "paragraphs", article_path):
            qas = list(_list_if_any(paragraph, "qas", paragraph_path))
            passage = _text(paragraph, "context", paragraph_path) if qas else ""
            for path, qa in qas:
                yield Question(
                    id=_get(qa, "id", str, path),
                    question=_text(qa, "question", path),
                    passage=passage,
                    answers=list(_answers(qa, path)),
                    is_impossible="is_impossible" in qa and _get(qa, "is_impossible", bool, path),
                    path=path,
                )


def _answers(qa: dict[str, Any], qa_path: str) -> Iterator[Answer]:
    if "answers" in qa:
        for path, answer in _list(qa, "answers", qa_path):
            yield Answer(
                text=_get(answer, "text", str, path),
                start=_get(answer, "answer_start", int, path),
            )


_NAMES = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}


def _get(parent: Any, key: str, kind: type, path: str) -> Any:
    """The value of a key, which must be of a type."""
    where = f"{path}." if path else ""
    if not isinstance(parent, dict) or key not in parent:
        raise ValueError(
            f"{path or 'the file'}: expected an object with {key!r}, but got {_shown(parent)}"
        )
    value = parent[key]
    # Exactly, since true is an int as well.
    if type(value) is not kind:
        raise ValueError(f"{where}{key}: expected {_NAMES[kind]}, but got {_shown(value)}")
    return value


def _list(parent: Any, key: str, path: str) -> Iterator[tuple[str, Any]]:
    """The elements of a list with the place of each, such as `data[0].paragraphs[2]`."""
    where = f"{path}.{key}" if path else key
    for index, element in enumerate(_get(parent, key, list, path)):
        yield f"{where}[{index}]", element


def _list_if_any(parent: Any, key: str, path: str) -> Iterator[tuple[str, Any]]:
    """The same, of nothing where an object has no such key."""
    return iter(()) if isinstance(parent, dict) and key not in parent else _list(parent, key, path)


def _text(parent: Any, key: str, path: str) -> str:
    text = _get(parent, key, str, path)
    if not text.strip():
        raise ValueError(f"{path}.{key}: there is no word in {text!r}")
    return text


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with {', '.join(map(repr, list(value)[:10])) or 'nothing'}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
