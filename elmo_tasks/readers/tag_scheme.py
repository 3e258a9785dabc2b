from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from elmo_tasks.common.span_tags import Notation, notation_of, tags_of_types, usual_tags
from elmo_tasks.readers.entities import Entity, has_ends, read_entities

# The prefixes of the first, an inner, the last and a single token of an entity. In IOB1, a first
# token has B only behind an entity of the same type; in IO, tags have no prefix.
_PREFIXES = {
    "BIO": "BIIB",
    "BIOUL": "BILU",
    "BIOES": "BIES",
    "BMES": "BMES",
    "BMEWO": "BMEW",
    "IOB1": "IIII",
    "IO": "",
}


class TagScheme(NamedTuple):
    """
    The way in which the training data of a model write the tags of spans. Answers are written in
    the same scheme. The vocabulary keeps it as a text such as `BIOES B-TYPE O`.

    # Parameters

    name: The name of the scheme: `BIO` (IOB2), `IOB1`, `IO`, `BIOUL`, `BIOES`,
        `BMES` or `BMEWO`.
    notation: The way in which a tag joins a prefix and a type.
    outside: The tag of a token outside of all spans.
    """

    name: str = "BIO"
    notation: Notation = Notation()
    outside: str = "O"

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> "TagScheme":
        """
        Returns the scheme in which a file writes tags. `sentences` has the tags of its sentences.
        """
        sentences = list(sentences)
        tags = set(chain.from_iterable(sentences))
        usual = usual_tags(tags)
        if usual.keys() <= {"O"}:
            return cls("IO") if tags - {"O", ""} else cls()
        outside = "o" if "o" in usual and "O" not in usual else "O"
        scheme = cls("BIO", notation_of(tags - {"O"}), outside)
        if has_ends(usual.values()):
            return scheme._replace(name=_with_ends({tag[0] for tag in usual.values()} - {"O"}))
        counts = [
            sum(
                tags
                == variant.write(read_entities([usual.get(tag, tag) for tag in tags]), len(tags))
                for tags in sentences
            )
            for variant in (scheme, scheme._replace(name="IOB1"))
        ]
        return scheme._replace(name="IOB1") if counts[1] > counts[0] else scheme

    @classmethod
    def parse(cls, text: str) -> "TagScheme":
        """
        Returns the scheme for a text that `str` made of a scheme. Returns BIO for any other text.
        """
        name, *fields = text.split(" ")
        if name not in _PREFIXES or len(fields) != 2:
            return cls()
        return cls(name, notation_of(fields[:1]), fields[1])

    def __str__(self) -> str:
        return f"{self.name} {self._tag('B', 'TYPE')} {self.outside}"

    def write(self, entities: Iterable[Entity], length: int) -> list[str]:
        """
        Returns the tags of a sentence of `length` tokens with these entities, which are in order.
        """
        tags = [self.outside] * length
        end_before, type_before = 0, None
        for type_, start, end in entities:
            is_behind = self.name == "IOB1" and start == end_before and type_ == type_before
            first, inner, last, single = tuple(_PREFIXES[self.name] or " " * 4)
            first, single = ("B", "B") if is_behind else (first, single)
            prefixes = [first, *inner * (end - start - 2), last] if end - start > 1 else [single]
            tags[start:end] = [self._tag(prefix, type_) for prefix in prefixes]
            end_before, type_before = end, type_
        return tags

    def _tag(self, prefix: str, type_: str) -> str:
        return type_ if self.name == "IO" else self.notation.tag(prefix, type_)


def learnt_usual(tags: Collection[str]) -> dict[str, str]:
    """
    Returns the usual form of each tag that marks spans. Tags without prefixes get the form of IOB1.
    """
    usual = usual_tags(tags)
    return tags_of_types(set(tags) - {""}) if usual.keys() <= {"O"} else usual


def _with_ends(prefixes: Collection[str]) -> str:
    """
    Returns the name of the scheme to which most of these prefixes belong, among the schemes that
    mark ends.
    """
    names = ("BIOUL", "BIOES", "BMES", "BMEWO")
    return max(names, key=lambda name: len(set(prefixes) & set(_PREFIXES[name])))
