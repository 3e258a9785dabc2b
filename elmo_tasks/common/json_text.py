import json
from typing import Any

# The maximum depth of nested objects and lists.
MAX_DEPTH = 100


def parse_json(text: str | bytes) -> Any:
    """
    Returns the value of a JSON text as `json.loads` does. Raises `ValueError` also if it is nested
    more than 100 deep, or has half of a surrogate pair, which no text file can hold.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    # Counting is much faster than walking through the value.
    brackets = ("[", "{") if isinstance(text, str) else (b"[", b"{")
    if sum(map(text.count, brackets)) > MAX_DEPTH and _is_too_deep(value):  # type: ignore[arg-type]
        raise ValueError(_TOO_DEEP)
    escapes = ("\\ud", "\\uD") if isinstance(text, str) else (b"\\ud", b"\\uD")
    if any(escape in text for escape in escapes):  # type: ignore[operator]
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
        level = [child for parent in level for child in _children(parent)]
    return bool(level)


def _children(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
