import re
import unicodedata
from typing import Any

# Vowel signs and accents, which belong to the letter before them.
_SIGNS = "".join(
    chr(code) for code in range(0x300, 0xFE30) if unicodedata.category(chr(code)).startswith("M")
)

# Letters of scripts without blanks: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
_ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

# Matches a run of letters (with their signs) and digits, one letter of a script without blanks, or
# any other single character but white space. Tokenizers find about as many tokens.
_WORD = re.compile(rf"(?:[^\W{_ALONE}][{_SIGNS}]*)+|[{_ALONE}]|[^\w\s]")


def count_words(value: Any) -> int:
    """
    Returns the number of words and punctuation marks in all strings of a JSON value. Counts without
    a tokenizer, so that a text that is too long costs little.
    """
    match value:
        case str():
            return sum(1 for _ in _WORD.finditer(value))
        case list():
            return sum(map(count_words, value))
        case dict():
            return sum(map(count_words, value.values()))
    return 0
