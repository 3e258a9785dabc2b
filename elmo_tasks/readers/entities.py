from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from allennlp.modules.conditional_random_field.conditional_random_field import is_transition_allowed

from elmo_tasks.common.span_tags import tag_of

# The prefixes of each tagging scheme. AllenNLP uses the same names of schemes.
SCHEMES = {"BIO": "BI", "BIOUL": "BIUL"}

# BIOES is BIOUL with other letters for two prefixes, and so are BMES and BMEWO.
_SYNONYMS = {"E": "L", "S": "U", "M": "I", "W": "U"}


class Entity(NamedTuple):
    """
    A named entity of a sentence, or an argument of a predicate: `tokens[start:end]`. `type` is the
    entity's type, such as PER, or the argument's role, such as ARG0; it is empty if the tags have
    no types.
    """

    type: str
    start: int
    end: int


class TagError(ValueError):
    """Raised for tags that a scheme does not allow, with the index of the token."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index


def read_entities(tags: Sequence[str], scheme: str | None = None) -> list[Entity]:
    """
    Returns the entities of a sentence in their order, from the tags of its tokens.

    # Parameters

    tags: A tag for each token: `O`, or a prefix, a hyphen and a type; or the prefix alone.
    scheme: `BIO` or `BIOUL`; `BIOUL` accepts BIOES too. Tags that the scheme does not allow raise
        `TagError`. By default, tags with B and I in any order are read by the rules of conlleval,
        which fit IOB1 too: a B begins an entity, and so does an I unless the tag before it has the
        same type.
    """
    starts: list[tuple[str, int]] = []
    ends: list[int] = []
    before = ("O", "")
    for index, tag in enumerate(tags):
        prefix, type_ = _parse(tag, index, scheme)
        if scheme is not None and not _is_allowed(scheme, before, (prefix, type_), index == 0):
            problem = f"follow {tags[index - 1]}" if index else "begin a sentence"
            raise TagError(index, f"{tag} cannot {problem} in {scheme}")
        goes_on = prefix in "IL" and before[0] in "BI" and before[1] == type_
        if before[0] != "O" and not goes_on:
            ends.append(index)
        if prefix != "O" and not goes_on:
            starts.append((type_, index))
        before = (prefix, type_)
    if scheme == "BIOUL" and before[0] in "BI":
        raise TagError(len(tags) - 1, f"{tags[-1]} cannot end a sentence in BIOUL")
    ends += [len(tags)] * (len(starts) - len(ends))
    return [Entity(type_, start, end) for (type_, start), end in zip(starts, ends)]


def write_tags(entities: Iterable[Entity], length: int, scheme: str) -> list[str]:
    """
    Returns the tags of a sentence of `length` tokens with these entities, which must not overlap.
    The scheme is `BIO` or `BIOUL`.
    """
    tags = ["O"] * length
    for type_, start, end in entities:
        tags[start:end] = [tag_of("I", type_)] * (end - start)
        tags[start] = tag_of("B", type_)
        if scheme == "BIOUL":
            tags[end - 1] = tag_of("L" if end - start > 1 else "U", type_)
    return tags


def has_ends(tags: Iterable[str]) -> bool:
    """Returns whether the tags mark the ends of entities, as only BIOUL and BIOES do."""
    return any(split_tag(tag)[0] in ("U", "L") for tag in set(tags))


def split_tag(tag: str) -> tuple[str, str]:
    """Returns prefix and type of a tag. Prefixes of BIOES become prefixes of BIOUL."""
    prefix, _, type_ = tag.partition("-")
    return _SYNONYMS.get(prefix, prefix), type_


def _parse(tag: str, index: int, scheme: str | None) -> tuple[str, str]:
    prefix, type_ = split_tag(tag)
    prefixes = SCHEMES[scheme or "BIO"]
    if tag != "O" and (prefix not in list(prefixes) or tag.endswith("-") and not type_):
        raise TagError(
            index,
            f"{tag!r} is not a tag of {scheme or 'IOB1 or BIO'}: expected O, or "
            f"{' or '.join(prefixes)} with a hyphen and a type, such as {prefixes[0]}-PER",
        )
    return prefix, type_


@cache
def _is_allowed(scheme: str, before: tuple[str, str], tag: tuple[str, str], first: bool) -> bool:
    before = ("START", "") if first else before
    return is_transition_allowed(scheme, *before, *tag)
