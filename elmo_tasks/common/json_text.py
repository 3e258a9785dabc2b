import json
from itertools import chain
from typing import Any

# The maximum depth of nested objects and lists.
MAX_DEPTH = 100


def parse_json(text: str | bytes) -> Any:
    """
    Returns the value of a JSON text as `json.loads` does. Raises `ValueError` also if it is nested
    more than 100 deep, or has half of a surrogate pair, which no text file can hold.
    """
    if isinstance(text, bytes):
        # As `json.loads` decodes them.
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    # Counting is much faster than walking through the value.
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(value):
        raise ValueError(_TOO_DEEP)
    if "\\ud" in text or "\\uD" in text:
        check_characters(json.dumps(value, ensure_ascii=False))
    return value


def check_characters(text: str) -> None:
    """Raises `ValueError` if a text has half of a surrogate pair, which UTF-8 cannot encode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise ValueError(f"{half!r} is half of a surrogate pair, and no character") from None


_TOO_DEEP = f"the JSON is nested more than {MAX_DEPTH} deep"


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        parents = [each for each in level if isinstance(each, dict | list)]
        children = (each.values() if isinstance(each, dict) else each for each in parents)
        level = list(chain.from_iterable(children))
    return bool(level)
