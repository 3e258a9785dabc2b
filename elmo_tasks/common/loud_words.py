"""Loud words and texts, such as sooo and GREAT, in the form that edited text has."""

import re
import unicodedata
from collections.abc import Iterable

# A letter three times or more in a row, without an accent.
_REPEATED = re.compile(r"([a-z])\1{2,}(?![\u0300-\u036f])", re.IGNORECASE)

# Words that are no loud form of others: www, XXX, and numbers such as VIII.
_AS_IT_IS = re.compile(r"(.)\1*|[ivx]+", re.IGNORECASE)

_MIN_CAPITALS = 4

# Two words in capitals may be names, such as IBM and USA.
_MIN_LOUD_WORDS = 3


def plain_word(word: str) -> str:
    """
    Returns a word in the form that edited text has, from which biLMs learn. A biLM of characters
    takes sooo for a name (see `lower_case`, `repeated_once`).
    """
    return repeated_once(lower_case(word))


def lower_case(word: str) -> str:
    """Writes a word of four capitals or more in lower case: GREAT, but not USA or VIII."""
    letters = [char for char in word if not unicodedata.combining(char)]
    is_loud = len(letters) >= _MIN_CAPITALS and all(map(str.isupper, letters))
    return word.lower() if is_loud and not _AS_IT_IS.fullmatch(word) else word


def repeated_once(word: str) -> str:
    """Writes once a letter that is repeated more than twice: sooo becomes so, but www stays."""
    return word if _AS_IT_IS.fullmatch(word) else _REPEATED.sub(r"\1", word)


def is_in_capitals(words: Iterable[str]) -> bool:
    """Returns whether a text of three words or more is written in capitals alone."""
    cased = [word for word in words if word.lower() != word.upper()]
    return len(cased) >= _MIN_LOUD_WORDS and all(word == word.upper() for word in cased)
