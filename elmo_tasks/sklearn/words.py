import regex

# A letter or a number, as `\w` of Python's own `re` has them, which leaves out marks.
_LETTER = r"[\p{L}\p{N}_]"

# Characters that belong to the letter before them: accents, vowel signs and points, joiners between
# two letters of Persian or Hindi, and soft hyphens.
_MARK = r"[\p{M}\u200c\u200d\u00ad]"

# Numbers, words, the clitics of English (do n't, it 's), and single other characters as a reader
# sees them: a sign with its accent, a flag, an emoji of several characters.
_TOKEN = regex.compile(
    rf"""
    \p{{Nd}}+(?:[.,]\p{{Nd}}+)+ {_MARK}*
    | (?:{_LETTER}{_MARK}*)+ (?=n['’]t(?!{_LETTER}|{_MARK}))
    | n['’]t (?!{_LETTER}|{_MARK})
    | ['’](?:s|m|d|ll|re|ve) (?!{_LETTER}|{_MARK})
    | (?:{_LETTER}{_MARK}*)+
    | \p{{Cf}}{_MARK}*
    | (?![\s\x1c-\x1f]) \X
    """,
    regex.IGNORECASE | regex.VERBOSE,
)

# A letter three times or more in a row, without an accent.
_REPEATED = regex.compile(rf"([a-z])\1{{2,}}(?!{_MARK})", regex.IGNORECASE)

# Four capitals or more, with their marks.
_CAPITALS = regex.compile(rf"(?:\p{{Lu}}{_MARK}*){{4,}}")

# Words that are no loud form of others: www, XXX, and numbers such as VIII.
_AS_IT_IS = regex.compile(r"(.)\1*|[ivx]+", regex.IGNORECASE)


def words_of(sentence: str) -> list[str]:
    """
    Cuts a sentence into words, numbers, English clitics and other characters, such as punctuation
    marks and emoji. A word is a run of letters of any script with their marks. So a text has the
    same tokens whether é is one character (NFC) or two (NFD). Every character that is not white
    space is in a token.
    """
    return _TOKEN.findall(sentence)


def plain_words_of(sentence: str) -> list[str]:
    """
    Cuts a sentence as `words_of` does, and writes loud words as the edited text has them that biLMs
    learn from. A biLM of characters takes sooo for a name (see `lower_case`, `repeated_once`).
    """
    return [repeated_once(lower_case(word)) for word in words_of(sentence)]


def lower_case(word: str) -> str:
    """Writes a word of four capitals or more in lower case: GREAT, but not USA or VIII."""
    is_loud = _CAPITALS.fullmatch(word) and not _AS_IT_IS.fullmatch(word)
    return word.lower() if is_loud else word


def repeated_once(word: str) -> str:
    """Writes once a letter that is repeated more than twice: sooo becomes so, but www stays."""
    return word if _AS_IT_IS.fullmatch(word) else _REPEATED.sub(r"\1", word)
