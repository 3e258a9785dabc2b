from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from allennlp.common.util import JsonDict
from allennlp.data.tokenizers import Token


class Text(NamedTuple):
    """The text of an input, and its tokens with their offsets."""

    text: str
    tokens: list[Token]

    @classmethod
    def of_words(cls, words: Iterable[str]) -> "Text":
        """Returns the text of words with a blank between them."""
        tokens, start = [], 0
        for word in words:
            tokens.append(Token(word, idx=start, idx_end=start + len(word)))
            start += len(word) + 1
        return cls(" ".join(token.ensure_text() for token in tokens), tokens)

    def span(self, first: int, stop: int) -> JsonDict:
        """
        Returns the tokens `first` to `stop - 1` as fields of an answer: their `text`, and `tokens`
        and `characters`, each a start and an exclusive end.
        """
        start, end = self.tokens[first].idx, self.tokens[stop - 1].idx_end
        return {"text": self.text[start:end], "tokens": [first, stop], "characters": [start, end]}


def sentence_input(inputs: Any, tokenize: Callable[[str], list[Token]]) -> Text:
    """
    Returns the sentence of `{"sentence": "raw text"}`, `{"text": "raw text"}` or
    `{"tokens": ["one", "word", "each"]}`. If an input has text and tokens, only the tokens are
    used. Raises `ValueError` if the input has another form or no word.
    """
    words = given_words(inputs)
    if words is None:
        is_text = isinstance(inputs, dict) and "text" in inputs and "sentence" not in inputs
        name = "text" if is_text else "sentence"
        check_texts(inputs, (name,), ' or {"tokens": ["one", "word", "each"]}')
        sentence = Text(inputs[name], tokenize(inputs[name]))
    else:
        sentence = Text.of_words(words)
    if not sentence.tokens:
        raise ValueError("there is no word in the sentence")
    return sentence


def given_words(inputs: Any) -> list[str] | None:
    """
    Returns the words of `{"tokens": ["one", "word", "each"]}`, or `None` if the input has no
    `tokens`. Raises `ValueError` if `tokens` is not a list of words.
    """
    if not isinstance(inputs, dict) or "tokens" not in inputs:
        return None
    words = inputs["tokens"]
    if not are_words(words):
        raise ValueError(f"tokens must be a list of words, but is {words!r:.200}")
    return words


def are_words(value: object) -> bool:
    """Returns whether a value of JSON is a list of words that are not blank."""
    return isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value)


def check_texts(inputs: Any, names: tuple[str, ...], alternative: str = "") -> None:
    """
    Raises `ValueError` unless the input has a text that is not blank under each of the `names`. The
    message also names `alternative`, another form of input that the caller accepts.
    """
    if not isinstance(inputs, dict) or not all(
        isinstance(inputs.get(text_name), str) for text_name in names
    ):
        expected = ", ".join(f'"{name}": "raw text"' for name in names)
        raise ValueError(f"expected {{{expected}}}{alternative}, but got {inputs!r:.200}")
    for name in names:
        if not inputs[name].strip():
            raise ValueError(f"there is no word in the {name}")
