"""The objects of a file of JSON: one on each line, or an array, in any layout."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from elmo_tasks.common.text import parse_json
from elmo_tasks.common.text_files import at_line

# What an array, or an object, of JSON begins with.
JSON_START = re.compile(r"\[\s*(\{|\]|$)|\{\s*([\"}]|$)")

# What stands between the objects of an array, or of a file without line ends.
_BETWEEN = re.compile(r"[\s,]*")

# How pandas writes lines that can be read here.
_AS_LINES = 'write the rows one by one: to_json(path, orient="records", lines=True)'


def json_lines(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, str]]:
    """
    Yields the JSON text of each object of a file, and the number of the line at which it begins.
    The file has an object on each line, which is read as a stream; or it is an array of objects, or
    has objects of several lines each. Raises `ValueError` with file and line if it is none of
    these.
    """
    rows = ((number, text) for number, text in lines if text.strip())
    first = next(rows, None)
    if first is None:
        return
    text = first[1].strip()
    if text.startswith("[") or (text.startswith("{") and not _is_json(text)):
        yield from _objects([first, *rows], name)
        return
    second = next(rows, None)
    if second is None and text.startswith("{"):
        with at_line(name, first[0]):
            _check_rows(text)
    yield from chain([first], () if second is None else [second], rows)


def json_object(text: str) -> dict[str, Any]:
    """Returns an object of JSON. Raises `ValueError` if the text is none."""
    try:
        value = parse_json(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}: {text[:40]!r}") from error
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, not {text[:40]!r}")
    return value


def _objects(rows: list[tuple[int, str]], name: str) -> Iterator[tuple[int, str]]:
    """Yields the objects of an array, or one after the other, each on one line."""
    text = "\n".join(line for _, line in rows)
    is_array = text.lstrip().startswith("[")
    decoder = json.JSONDecoder()
    position = text.index("[") + 1 if is_array else 0
    end = text.rstrip().removesuffix("]") if is_array else text.rstrip()
    index = counted = 0
    while (position := _BETWEEN.match(text, position).end()) < len(end):  # type: ignore[union-attr]
        index += text.count("\n", counted, position)
        counted = position
        with at_line(name, rows[index][0]):
            try:
                _, stop = decoder.raw_decode(text, position)
            except (ValueError, RecursionError) as error:
                raise ValueError(_not_json(text, position, rows[0][1], error)) from error
            value = text[position:stop].replace("\n", " ")
            if not is_array and index == 0 and not text[stop:].strip():
                _check_rows(value)
        yield rows[index][0], value
        position = stop
    if is_array and not text.rstrip().endswith("]"):
        raise ValueError(f"{name}:{rows[-1][0]}: not JSON: the file ends before its array does")


def _not_json(text: str, position: int, first_line: str, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "not JSON: the JSON is nested too deep"
    if position == 0:
        # A line that is damaged is more likely than an object of several lines.
        with_line = _error_of(first_line.strip())
        return f"not JSON: {with_line}: {first_line.strip()[:40]!r}"
    got = text[position : position + 40]
    return f"not JSON: {getattr(error, 'msg', error)}: {got!r}"


def _error_of(text: str) -> str:
    try:
        parse_json(text)
    except ValueError as error:
        return str(error)
    return ""


def _is_json(text: str) -> bool:
    """Returns whether a text is JSON, apart from what only `parse_json` refuses."""
    try:
        json.loads(text)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _check_rows(text: str) -> None:
    """Raises `ValueError` if the only object of a file has the columns of pandas' `to_json`."""
    value = json_object(text)
    if {"columns", "data"} <= value.keys():
        raise ValueError(f"expected objects, not the columns and data of pandas; {_AS_LINES}")
    inner = list(value.values())
    if inner and all(isinstance(each, dict) and each for each in inner):
        same = all(each.keys() == inner[0].keys() for each in inner)
        if same and (all(map(str.isdecimal, inner[0])) or all(map(str.isdecimal, value))):
            raise ValueError(f"expected objects, not one object of pandas' columns; {_AS_LINES}")
