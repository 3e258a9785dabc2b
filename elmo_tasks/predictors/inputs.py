from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from allennlp.common.util import JsonDict
from allennlp.data.tokenizers import Token

from elmo_tasks.common.json_text import check_characters


class SentenceInput(NamedTuple):
    """A sentence that a user asks about, raw or as tokens with a blank between them."""

    text: str
    # At least one, with their offsets in the text.
    tokens: list[Token]


def sentence_input(inputs: Any, tokenize: Callable[[str], list[Token]]) -> SentenceInput:
    """
    Returns the sentence of `{"sentence": "raw text"}`, `{"text": "raw text"}` or
    `{"tokens": ["one", "word", "each"]}`. If there are both, the tokens count. Raises `ValueError`
    if the input has another form or no word.
    """
    words = given_words(inputs)
    if words is None:
        is_text = isinstance(inputs, dict) and "text" in inputs and "sentence" not in inputs
        name = "text" if is_text else "sentence"
        check_texts(inputs, (name,), ' or {"tokens": ["one", "word", "each"]}')
        text, tokens = inputs[name], tokenize(inputs[name])
    else:
        text, tokens = " ".join(words), joined_tokens(words)
    if not tokens:
        raise ValueError("there is no word in the sentence")
    return SentenceInput(text, tokens)


def given_words(inputs: Any) -> list[str] | None:
    """Returns the words of `{"tokens": ["one", "word", "each"]}`, or `None` without tokens."""
    if not isinstance(inputs, dict) or "tokens" not in inputs:
        return None
    words = inputs["tokens"]
    if not are_words(words):
        raise ValueError(f"tokens must be a list of words, but is {words!r:.200}")
    check_characters(" ".join(words))
    return words


def are_words(value: object) -> bool:
    """Returns whether a value of JSON is a list of words, none of them blank."""
    return isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value)


def check_texts(inputs: Any, names: tuple[str, ...], alternative: str = "") -> None:
    """
    Raises `ValueError` unless the input has all names, each with text that has a word. The message
    names the `alternative` that the caller takes.
    """
    if not isinstance(inputs, dict) or not all(isinstance(inputs.get(each), str) for each in names):
        expected = ", ".join(f'"{name}": "raw text"' for name in names)
        raise ValueError(f"expected {{{expected}}}{alternative}, but got {inputs!r:.200}")
    for name in names:
        check_characters(inputs[name])
        if not inputs[name].strip():
            raise ValueError(f"there is no word in the {name}")


def joined_tokens(words: Iterable[str]) -> list[Token]:
    """Returns a token for each word, with the characters that it covers in `" ".join(words)`."""
    tokens, start = [], 0
    for word in words:
        tokens.append(Token(word, idx=start, idx_end=start + len(word)))
        start += len(word) + 1
    return tokens


def span_of(text: str, tokens: Sequence[Token], first: int, stop: int) -> JsonDict:
    """Returns the tokens `first` to `stop - 1` of a text in the form of an answer."""
    start, end = tokens[first].idx, tokens[stop - 1].idx_end
    return {"text": text[start:end], "tokens": [first, stop], "characters": [start, end]}
