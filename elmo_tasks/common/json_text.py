import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """
    Returns the value of a JSON text as `json.loads` does; bytes are UTF-8. Raises `ValueError` also
    if it is nested too deep for Python, or has half of a surrogate pair, which no text file can
    hold.
    """
    if isinstance(text, bytes):
        text = text.decode()
    try:
        value = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            check_characters(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
    return value


def check_characters(text: str) -> None:
    """Raises `ValueError` if a text has half of a surrogate pair, which UTF-8 cannot encode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise ValueError(f"{half!r} is half of a surrogate pair, and no character") from None
