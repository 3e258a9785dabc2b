import regex

from elmo_tasks.common.loud_words import plain_word

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


def words_of(sentence: str) -> list[str]:
    """
    Cuts a sentence into words, numbers, English clitics and other characters, such as punctuation
    marks and emoji. A word is a run of letters of any script with their marks. So a text has the
    same tokens whether é is one character (NFC) or two (NFD). Every character that is not white
    space is in a token.
    """
    return _TOKEN.findall(sentence)


def plain_words_of(sentence: str) -> list[str]:
    """Cuts a sentence as `words_of` does, and writes loud words plainly (see `plain_word`)."""
    return list(map(plain_word, words_of(sentence)))
