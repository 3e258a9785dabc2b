import re
from typing import Any

# A run of letters and digits, or any other single character but white space. Tokenizers find about
# as many tokens.
_WORD = re.compile(r"\w+|[^\w\s]")


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
