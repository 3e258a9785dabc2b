"""Reads the objects of a JSON file: one on each line, or an array in any layout."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from elmo_tasks.common.text import parse_data
from elmo_tasks.common.text_files import at_line

# What an array, or an object, of JSON begins with.
JSON_START = re.compile(r"\[\s*(\{|\]|\[\s*\"|$)|\{\s*([\"}]|$)")

# What stands between the objects of an array, or of a file without line ends.
_BETWEEN = re.compile(r"[\s,]*")

# How pandas writes lines that can be read here.
_AS_LINES = 'write the rows one by one: to_json(path, orient="records", lines=True)'


def json_lines(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, str]]:
    """
    Yields the JSON text of each object of a file, and the number of the line at which it begins. A
    file with an object on each line is read as a stream. A file may also be an array of objects, or
    have objects of several lines. A list of a text and its annotations, as in spaCy 2's training
    data, is an object too: `["Oslo .", {"entities": [[0, 4, "LOC"]]}]` becomes `{"text": "Oslo .",
    "entities": ...}`. Raises `ValueError` with file and line for any other file.
    """
    for number, text in _texts(lines, name):
        yield number, _with_text(text) if text.lstrip().startswith("[") else text


def _texts(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, str]]:
    """Yields the JSON text of each object, or of each text with its annotations."""
    rows: Iterator[tuple[int, str]] = (line for line in lines if line[1].strip())
    first = next(rows, None)
    if first is None:
        return
    text = first[1].strip()
    value = _value_of(text)
    if _is_annotated(value):
        yield from chain([first], rows)
        return
    # The next line is read now only if the first may be the beginning of a longer value.
    if text.startswith("[") or (text.startswith("{") and value is None) or _of_columns(value):
        second = next(rows, None)
        rows = chain([] if second is None else [second], rows)
        # If the next line is an object, the first line is damaged, except in an array.
        are_lines = value is not None or (text[0] == "{" and _is_object(second))
        if second is None or not are_lines:
            yield from _objects([first, *rows], name)
            return
    yield first
    yield from rows


def _with_text(text: str) -> str:
    """Makes one object of a text and its annotations. Returns other JSON as it is."""
    value = _value_of(text)
    return json.dumps({"text": value[0], **value[1]}) if _is_annotated(value) else text


def _is_annotated(value: Any) -> bool:
    match value:
        case [str(), dict()]:
            return True
    return False


def _is_object(line: tuple[int, str] | None) -> bool:
    return line is not None and isinstance(_value_of(line[1]), dict)


def json_object(text: str) -> dict[str, Any]:
    """Returns an object of JSON. Raises `ValueError` if the text is not an object."""
    try:
        value = parse_data(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}: {text[:40]!r}") from error
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, not {text[:40]!r}")
    return value


def _objects(rows: list[tuple[int, str]], name: str) -> Iterator[tuple[int, str]]:
    """
    Yields the objects of an array, or objects that follow one another, each as JSON text on one
    line.
    """
    text = "\n".join(line for _, line in rows)
    is_array = text.lstrip().startswith("[")
    decoder = json.JSONDecoder()
    position = text.index("[") + 1 if is_array else 0
    end = text.rstrip().removesuffix("]") if is_array else text.rstrip()
    index = counted_to = 0
    while (position := _BETWEEN.match(text, position).end()) < len(end):  # type: ignore[union-attr]
        index += text.count("\n", counted_to, position)
        counted_to = position
        with at_line(name, rows[index][0]):
            try:
                data, stop = decoder.raw_decode(text, position)
            except (ValueError, RecursionError) as error:
                raise ValueError(_not_json(text, position, rows[0][1], error)) from error
            value = text[position:stop].replace("\n", " ")
            if not is_array and not text[stop:].strip() and (problem := _of_columns(data)):
                raise ValueError(problem)
        yield rows[index][0], value
        position = stop
    if is_array and not text.rstrip().endswith("]"):
        raise ValueError(f"{name}:{rows[-1][0]}: not JSON: the file ends before its array does")


def _not_json(text: str, position: int, first_line: str, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "not JSON: the JSON is nested too deeply"
    if position == 0:
        # A line that is damaged is more likely than an object of several lines.
        with_line = _error_of(first_line.strip())
        return f"not JSON: {with_line}: {first_line.strip()[:40]!r}"
    excerpt = text[position : position + 40]
    return f"not JSON: {getattr(error, 'msg', error)}: {excerpt!r}"


def _error_of(text: str) -> str:
    try:
        parse_data(text)
    except ValueError as error:
        return str(error)
    return ""


def _value_of(text: str) -> Any:
    """Returns the value of a JSON text, or None if it is not JSON."""
    try:
        return json.loads(text)
    except RecursionError:
        # The code that reads the line says that it is nested too deeply.
        return {}
    except ValueError:
        return None


def _of_columns(value: Any) -> str:
    """
    Returns an error message if an object has whole columns, as from pandas' `to_json`; otherwise
    "".
    """
    if not isinstance(value, dict):
        return ""
    if {"columns", "data"} <= value.keys():
        return f"expected objects, not the columns and data of pandas; {_AS_LINES}"
    inner = list(value.values())
    if inner and all(isinstance(item, dict) and item for item in inner):
        have_equal_keys = all(item.keys() == inner[0].keys() for item in inner)
        if have_equal_keys and (
            all(map(str.isdecimal, inner[0])) or all(map(str.isdecimal, value))
        ):
            return f"expected objects, not one object of pandas' columns; {_AS_LINES}"
    return ""
