"""Helpers for text: boundary tokens, names in messages, safe output to a terminal, JSON."""

import json
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

# The words that bound a sentence, in texts and vocabularies of bilm-tf and AllenNLP.
BEGIN_TOKEN, END_TOKEN = "<S>", "</S>"

# The maximum number of names that a message lists.
_MOST_LISTED = 12

# Characters that steer a terminal or show a text otherwise than it is: control characters except
# the tab, marks that end a line or turn the direction of writing, halves of surrogate pairs, and
# characters without a width. Joiners and variation selectors belong to many scripts and to emoji:
# they stay between or after characters of these.
_CONTROL = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u061c\u200e\u200f\ud800-\udfff"
    "\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d])"
    "|(?<![^\x00-\x7f])[\U000e0100-\U000e01ef]"
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def printable(text: str) -> str:
    r"""
    Returns a line with its control and invisible characters escaped, such as `\x1b`. A name or
    label from somebody's file must neither control the terminal nor look like another name or
    label.
    """
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Returns `; did you mean 'x'?` if a known name x is similar to `name`, and otherwise ""."""
    # Imported only here, because every command imports this module and must start fast.
    import difflib

    lower = {choice.lower(): choice for choice in names}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1)
    return f"; did you mean {lower[nearest[0]]!r}?" if nearest else ""


def nearest_or_all(name: str, names: Collection[str]) -> str:
    """
    Returns the end of a message about an unknown name: `did_you_mean`, or `; there are a, b and c`
    if no known name is similar. Lists only the first of many names.
    """
    return did_you_mean(name, names) or f"; there are {listed(names)}"


def listed(names: Collection[str]) -> str:
    """Returns names as text. Lists the first of many names, and says how many more there are."""
    first = ", ".join(list(names)[:_MOST_LISTED]) or "(none)"
    more = len(names) - _MOST_LISTED
    return f"{first} and {more} more" if more > 0 else first


def parse_json(text: str | bytes, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """
    Returns the value of a JSON text, as `json.loads` does. Skips a byte order mark, and reads bytes
    as UTF-8, UTF-16 or UTF-32. Also raises `ValueError` if the JSON is nested too deeply for
    Python, or has half of a surrogate pair, which no text file can hold.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text))
    text = text.removeprefix("\ufeff")
    try:
        value = json.loads(text, parse_constant=parse_constant)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text has half of a surrogate pair, such as half an emoji") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    return value


def parse_data(text: str | bytes) -> Any:
    """
    Returns the value of a JSON text with a user's data, as `parse_json` does. `NaN` and `Infinity`,
    which JSON lacks but Python and pandas write, become None.
    """
    return parse_json(text, parse_constant=lambda _: None)
