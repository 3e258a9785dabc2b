from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from allennlp.common.util import JsonDict
from allennlp.data.tokenizers import Token

from elmo_tasks.common.json_text import check_characters


class SentenceInput(NamedTuple):
    """
    A sentence that a user asks about.

    # Parameters

    text: The raw text, or the user's tokens with a blank between them.
    tokens: At least one. If the user gave them, `idx` and `idx_end` are their offsets in `text`.
    """

    text: str
    tokens: list[Token]


def sentence_input(
    inputs: Any, tokenize: Callable[[str], list[Token]], options: tuple[str, ...] = ()
) -> SentenceInput:
    """
    Returns the sentence of `{"sentence": "raw text"}` or `{"tokens": ["one", "word", "each"]}`.
    Both may have further fields.

    # Parameters

    inputs: The input in JSON.
    tokenize: The function that cuts raw text into tokens.
    options: Other fields that the caller reads. Each of them requires the fields before it. The
        values are not checked.

    # Raises

    `ValueError`: The input has another form or no word.
    """
    match inputs:
        case {"sentence": str(text), **others} if _may_be(others, options):
            check_characters(text)
            tokens = tokenize(text)
        case {"tokens": [*words], **others} if _may_be(others, options) and all(
            map(_is_word, words)
        ):
            text, tokens = " ".join(words), joined_tokens(words)
            check_characters(text)
        case _:
            raise ValueError(
                'expected {"sentence": "raw text"} or {"tokens": ["one", "word", "each"]}'
                f"{_describe(options)}, but got {inputs!r:.200}"
            )
    if not tokens:
        raise ValueError("there is no word in the sentence")
    return SentenceInput(text, tokens)


def check_texts(inputs: Any, names: tuple[str, ...], alternative: str = "") -> None:
    """
    Raises `ValueError` unless `inputs` has the given keys, each with text that has a word.

    # Parameters

    inputs: The input in JSON.
    names: The keys.
    alternative: The words in the message for another form of input that the caller accepts.
    """
    match inputs:
        case dict() if all(isinstance(inputs.get(name), str) for name in names):
            for name in names:
                check_characters(inputs[name])
                if not inputs[name].strip():
                    raise ValueError(f"there is no word in the {name}")
        case _:
            expected = ", ".join(f'"{name}": "raw text"' for name in names)
            raise ValueError(f"expected {{{expected}}}{alternative}, but got {inputs!r:.200}")


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


def _may_be(others: JsonDict, options: tuple[str, ...]) -> bool:
    given = [option for option in options if option in others]
    return given == list(options[: len(given)]) and others.keys().isdisjoint(("sentence", "tokens"))


def _describe(options: tuple[str, ...]) -> str:
    if not options:
        return ""
    names = [f'"{name}"' for name in options]
    choices = [" and ".join(names[:stop]) for stop in range(1, len(names) + 1)]
    return f", optionally with {' or with '.join(choices)}"


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""
