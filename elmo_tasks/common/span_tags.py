"""How the tags of spans are written in files."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

_PREFIX = "(?P<prefix>[BIESULMW])"


class Notation(NamedTuple):
    """
    How a tag is made of a prefix and a type.

    # Parameters

    sign (default `'-'`): What stands between prefix and type.
    is_behind (default `False`): Whether the prefix is behind the type, as in `PER-B`.
    is_small (default `False`): Whether the prefix is a small letter.
    """

    sign: str = "-"
    is_behind: bool = False
    is_small: bool = False

    def tag(self, prefix: str, type_: str) -> str:
        prefix = prefix.lower() if self.is_small else prefix
        parts = [type_, prefix] if self.is_behind else [prefix, type_]
        return self.sign.join(parts) if type_ else prefix

    def usual(self, tags: Collection[str]) -> dict[str, str]:
        """Returns those tags that are in this notation, and how they are usually written."""
        sign = re.escape(self.sign)
        before, behind = f"{_PREFIX}{sign}(?P<type>.+)", f"(?P<type>.+){sign}{_PREFIX}"
        pattern = behind if self.is_behind else before
        matches = {tag: re.fullmatch(pattern, tag, re.IGNORECASE * self.is_small) for tag in tags}
        return {
            tag: tag_of(match["prefix"].upper(), match["type"])
            for tag, match in matches.items()
            if match is not None
        }


def usual_tags(tags: Collection[str]) -> dict[str, str]:
    """
    Returns those tags of a file that mark spans, and how they are usually written: `b_LOC`, `LOC-B`
    and `B/LOC` as `B-LOC`. Most tags with a type tell how this file writes them.
    """
    others = set(tags) - {"O"}
    usual = notation_of(others).usual(others)
    usual.update({tag: tag for tag in others if re.fullmatch(_PREFIX, tag)})
    if 2 * len(usual) < len(others):
        usual = {}
    return {**usual, **{tag: "O" for tag in tags if tag == "O" or usual and tag == "o"}}


def notation_of(tags: Collection[str]) -> Notation:
    """Returns the notation of most tags with a type; by default `B-PER`."""
    return max(_notations(), key=lambda notation: len(notation.usual(tags)))


def tags_of_types(tags: Collection[str]) -> dict[str, str]:
    """
    Returns how tags without prefixes are written in IOB1: neighbours with the tag `PER` are one
    span, `I-PER`.
    """
    return {tag: "O" if tag == "O" else f"I-{tag}" for tag in tags}


def tag_of(prefix: str, type_: str) -> str:
    return f"{prefix}-{type_}" if type_ else prefix


def _notations() -> Iterator[Notation]:
    # A small letter is a prefix only if that makes more tags those of spans.
    for is_small in (False, True):
        for sign in "-_/:|.":
            for is_behind in (False, True):
                yield Notation(sign, is_behind, is_small)
