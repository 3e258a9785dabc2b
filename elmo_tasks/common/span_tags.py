"""Knows the ways in which files write the tags of spans, such as `B-LOC`, `LOC-B` and `b_LOC`."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

_PREFIX = "(?P<prefix>[BIESULMW])"


class Notation(NamedTuple):
    """
    A way to write a tag as a prefix and a type.

    # Parameters

    sign: The character between prefix and type.
    is_behind: Whether the prefix is behind the type, as in `PER-B`.
    is_small: Whether the prefix is a small letter.
    """

    sign: str = "-"
    is_behind: bool = False
    is_small: bool = False

    def tag(self, prefix: str, type_: str) -> str:
        prefix = prefix.lower() if self.is_small else prefix
        parts = [type_, prefix] if self.is_behind else [prefix, type_]
        return self.sign.join(parts) if type_ else prefix

    def usual(self, tags: Collection[str]) -> dict[str, str]:
        """Returns the usual form, such as `B-LOC`, of each tag that is written in this notation."""
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
    Returns the usual form of each tag of a file that marks spans: `B-LOC` for `b_LOC`, `LOC-B` or
    `B/LOC`. The notation of the file is the notation of most tags with a type.
    """
    span_tags = set(tags) - {"O"}
    usual = notation_of(span_tags).usual(span_tags)
    usual.update({tag: tag for tag in span_tags if re.fullmatch(_PREFIX, tag)})
    if 2 * len(usual) < len(span_tags):
        usual = {}
    return {**usual, **{tag: "O" for tag in tags if tag == "O" or usual and tag == "o"}}


def notation_of(tags: Collection[str]) -> Notation:
    """Returns the notation of most tags with a type; by default `B-PER`."""
    return max(_notations(), key=lambda notation: len(notation.usual(tags)))


def tags_of_types(tags: Collection[str]) -> dict[str, str]:
    """
    Returns the form of tags without prefixes in IOB1, such as `I-PER` for `PER`. Neighbouring
    tokens with this tag are then one span.
    """
    return {tag: "O" if tag == "O" else f"I-{tag}" for tag in tags}


def tag_of(prefix: str, type_: str) -> str:
    return f"{prefix}-{type_}" if type_ else prefix


def _notations() -> Iterator[Notation]:
    # Small letters are prefixes only if more tags then mark spans.
    for is_small in (False, True):
        for sign in "-_/:|.":
            for is_behind in (False, True):
                yield Notation(sign, is_behind, is_small)
