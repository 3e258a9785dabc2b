"""How the tags of spans are written in files."""

import re
from collections.abc import Collection

_PREFIX = "(?P<prefix>[BIESULMW])"
# How tags are written in files: `B-PER` or `PER-B`, with any of the signs; if no tag is written so,
# with a small letter as the prefix.
_NOTATIONS = [
    re.compile(pattern, flags)
    for flags in (0, re.IGNORECASE)
    for sign in "-_/:|."
    for pattern in (
        f"{_PREFIX}{re.escape(sign)}(?P<type>.+)",
        f"(?P<type>.+){re.escape(sign)}{_PREFIX}",
    )
]


def usual_tags(tags: Collection[str]) -> dict[str, str]:
    """
    Returns those tags of a file that mark spans, and how they are usually written: `b_LOC`, `LOC-B`
    and `B/LOC` as `B-LOC`. Most tags with a type tell how this file writes them.
    """
    others = set(tags) - {"O"}
    usual: dict[str, str] = {}
    for pattern in _NOTATIONS:
        matches = {tag: pattern.fullmatch(tag) for tag in others}
        written = {
            tag: tag_of(match["prefix"].upper(), match["type"])
            for tag, match in matches.items()
            if match is not None
        }
        usual = written if len(written) > len(usual) else usual
    usual.update({tag: tag for tag in others if re.fullmatch(_PREFIX, tag)})
    if 2 * len(usual) < len(others):
        usual = {}
    return {**usual, **{tag: "O" for tag in tags if tag == "O" or usual and tag == "o"}}


def tags_of_types(tags: Collection[str]) -> dict[str, str]:
    """
    Returns how tags without prefixes are written in IOB1: neighbours with the tag `PER` are one
    span, `I-PER`.
    """
    return {tag: "O" if tag == "O" else f"I-{tag}" for tag in tags}


def tag_of(prefix: str, type_: str) -> str:
    return f"{prefix}-{type_}" if type_ else prefix
