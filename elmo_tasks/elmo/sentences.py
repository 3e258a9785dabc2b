"""Checks the lists of sentences and tokens that a program passes to functions of this package."""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Union

from elmo_tasks.common.lists import no_list

# A sentence is a list of tokens, or a text that is cut into tokens.
Sentence = Union[str, Sequence[str]]

# A function that cuts a text into tokens. A token is a string, or an object with the string as its
# attribute `text`, as in spaCy and AllenNLP.
Tokenizer = Callable[[str], Iterable[Any]]

# White space that is in no token. A no-break space is in some tokens of treebanks.
_WHITE_SPACE = re.compile(r"[ \t\n\r\x0b\x0c]")

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")

# A list of so many words one after another was probably meant as one sentence.
_MANY_WORDS = 10


def sentences_of(
    sentences: Iterable[Sentence], tokenizer: Tokenizer | None = None
) -> Iterator[list[str]]:
    """
    Yields the tokens of each sentence of a list or a stream, without padding. A string is one
    sentence, so each word of a flat list of words is a sentence. Warns if ten sentences in a row
    are strings of one word.

    # Parameters

    sentences: Strings, or lists of tokens, which may be padded at their end with `""`.
    tokenizer: Cuts a string into tokens (see `tokens_of`).

    # Raises

    `ValueError`: `sentences` is not a list of sentences but, for example, one string or a table; or
        `tokens_of` refuses a sentence.
    """
    several = checked_list(sentences)
    return (checked_tokens(words, name) for name, words in _names_and_tokens(several, tokenizer))


def padded_sentences(
    sentences: Iterable[Sentence],
    tokenizer: Tokenizer | None = None,
    lengths: Iterable[int] | None = None,
) -> tuple[list[list[str]], int]:
    """
    Returns the tokens of each sentence, and the length of the longest sentence with its padding.
    `lengths` are the numbers of tokens in the sentences; all further tokens are padding. Raises
    `ValueError` as `sentences_of` does, and if the lengths do not fit the sentences.
    """
    names_and_tokens = list(_names_and_tokens(checked_list(sentences), tokenizer))
    if lengths is not None:
        padded_words = [words for _, words in names_and_tokens]
        sentence_words = _cut_to_lengths(padded_words, list(map(int, lengths)))
        tokens = [
            checked_tokens(words, name, False)
            for (name, _), words in zip(names_and_tokens, sentence_words)
        ]
    else:
        tokens = [checked_tokens(words, name) for name, words in names_and_tokens]
    return tokens, max((len(words) for _, words in names_and_tokens), default=0)


def tokens_of(
    sentence: Sentence, tokenizer: Tokenizer | None = None, name: str = "the sentence"
) -> list[str]:
    """
    Returns the tokens of a sentence, without padding.

    # Parameters

    tokenizer: Cuts a string into tokens; tokens of white space alone are left out. By default a
        string is cut at white space.
    name: The name of the sentence in messages.

    # Raises

    `ValueError`: The sentence is neither a string nor a list of tokens; or a token is not a string,
        is empty, or has white space or half of a surrogate pair; or the tokenizer returns a string.
    """
    return checked_tokens(_split(sentence, tokenizer, name), name)


def checked_list(sentences: Any) -> Iterator[Any]:
    """
    Yields the items of a list or a stream of sentences, unchecked. Warns if ten items in a row are
    strings of one word. Raises `ValueError` if `sentences` is neither a list nor a stream.
    """
    if problem := no_list(sentences):
        raise ValueError(
            f"expected a list of sentences, each a string or a list of tokens, not {problem}"
        )
    return _warn_of_words(sentences)


def checked_tokens(words: Iterable[Any], name: str, padded: bool = True) -> list[str]:
    """
    Returns tokens as a list. If `padded`, leaves out the empty strings at the end. Raises
    `ValueError` as `tokens_of` does.
    """
    tokens = list(words)
    while padded and tokens and isinstance(tokens[-1], str) and not tokens[-1]:
        tokens.pop()
    try:
        text = "".join(tokens)
    except TypeError:
        text = None
    if text is None or "" in tokens or _WHITE_SPACE.search(text) or _HALF_A_PAIR.search(text):
        for index, token in enumerate(tokens):
            if problem := _no_token(token):
                raise ValueError(f"token {index} of {name} {problem}")
    return tokens


def _names_and_tokens(
    sentences: Iterable[Sentence], tokenizer: Tokenizer | None
) -> Iterator[tuple[str, list[Any]]]:
    """Yields the name of each sentence for messages, and its unchecked tokens."""
    for index, sentence in enumerate(sentences):
        name = f"sentence {index}"
        yield name, _split(sentence, tokenizer, name)


def _warn_of_words(sentences: Iterable[Any]) -> Iterator[Any]:
    num_words = 0
    for index, sentence in enumerate(sentences):
        is_word = isinstance(sentence, str) and len(sentence.split(None, 1)) == 1
        num_words = num_words + 1 if is_word else 0
        if num_words == _MANY_WORDS:
            warnings.warn(
                f"{_MANY_WORDS} sentences in a row have one word, up to sentence {index}: "
                f"{sentence!r:.80}; if the whole list is one sentence, give [tokens]",
                stacklevel=2,
            )
        yield sentence


def _split(sentence: Any, tokenizer: Tokenizer | None, name: str) -> list[Any]:
    """Returns the tokens of a sentence, unchecked and with their padding."""
    if isinstance(sentence, str):
        if _HALF_A_PAIR.search(sentence):
            raise ValueError(f"{name} {_half_a_pair(sentence)}")
        return sentence.split() if tokenizer is None else _tokenize(tokenizer, sentence)
    if problem := no_list(sentence):
        advice = "" if hasattr(sentence, "__iter__") else "; leave it out, or give ''"
        raise ValueError(f"{name} must be a string or a list of tokens, not {problem}{advice}")
    # The items of an array of NumPy or pandas are then strings of Python.
    return sentence.tolist() if hasattr(sentence, "tolist") else list(sentence)


def _tokenize(tokenizer: Tokenizer, text: str) -> list[Any]:
    # AllenNLP's tokenizers are not callable, but have this method.
    pieces = getattr(tokenizer, "tokenize", tokenizer)(text)
    # The characters of a string would be taken for tokens.
    tokens = pieces if isinstance(pieces, str) or not isinstance(pieces, Iterable) else list(pieces)
    if isinstance(tokens, list):
        tokens = [getattr(token, "text", token) for token in tokens]
        if all(isinstance(token, str) for token in tokens):
            return [token for token in tokens if token and not token.isspace()]
    raise ValueError(
        f"the tokenizer must return a list of tokens, but returned {tokens!r:.80} for {text!r:.80}"
    )


def _cut_to_lengths(sentences: list[list[Any]], lengths: list[int]) -> list[list[Any]]:
    if len(lengths) != len(sentences):
        raise ValueError(f"got {len(lengths)} lengths for {len(sentences)} sentences")
    for index, (words, length) in enumerate(zip(sentences, lengths)):
        if not 0 <= length <= len(words):
            raise ValueError(
                f"the length of sentence {index} is {length}, but it has {len(words)} tokens"
            )
    return [words[:length] for words, length in zip(sentences, lengths)]


def _no_token(token: Any) -> str | None:
    """
    Returns a message for a value that is not a token: why, and what to do. Returns `None` for a
    token.
    """
    if not isinstance(token, str):
        return f"must be a string, not {token!r:.80}"
    if not token:
        return "is an empty string, which only pads the end of a sentence"
    if _WHITE_SPACE.search(token):
        return (
            f"has white space: {token!r:.80}; give a text as a string or cut it into tokens, leave "
            "out tokens of white space, and write '_' or '\\xa0' for a blank inside a token"
        )
    return _half_a_pair(token) if _HALF_A_PAIR.search(token) else None


def _half_a_pair(text: str) -> str:
    return (
        f"has half of a surrogate pair: {text!r:.80}; mend it: "
        "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
    )
