from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union

# A sentence is a list of tokens, or a text that is cut into tokens.
Sentence = Union[str, Sequence[str]]

# A function that cuts a text into tokens. A token is a string, or an object with the string as its
# attribute `text`, as in spaCy and AllenNLP.
Tokenizer = Callable[[str], Iterable[Any]]


def tokenize(sentence: Sentence, tokenizer: Tokenizer | None = None) -> list[str]:
    """
    Returns the tokens of a sentence, padding included. A string is cut by the tokenizer, or at
    white space if there is none. Raises `ValueError` if the sentence is neither a string nor a list
    of strings.
    """
    if isinstance(sentence, str):
        if tokenizer is None:
            return sentence.split()
        # AllenNLP's tokenizers are not callable, but have this method.
        cut = getattr(tokenizer, "tokenize", tokenizer)
        return [token if isinstance(token, str) else token.text for token in cut(sentence)]
    tokens = list(sentence) if isinstance(sentence, Iterable) else [sentence]
    if not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"a sentence is a string or a list of tokens, not {sentence!r:.80}")
    return tokens


def without_padding(words: list[str]) -> list[str]:
    """Returns the words without the empty strings at the end."""
    num_words = len(words)
    while num_words and not words[num_words - 1]:
        num_words -= 1
    return words[:num_words]


def cut_to_lengths(padded: list[list[str]], lengths: Iterable[int] | None) -> list[list[str]]:
    """
    Cuts each sentence to its length in words, by default to the words before its padding. Raises
    `ValueError` if a length is missing, or is not between 0 and the number of words.
    """
    if lengths is None:
        return list(map(without_padding, padded))
    lengths = list(map(int, lengths))
    if len(lengths) != len(padded):
        raise ValueError(f"got {len(lengths)} lengths for {len(padded)} sentences")
    for index, (words, length) in enumerate(zip(padded, lengths)):
        if not 0 <= length <= len(words):
            raise ValueError(
                f"the length of sentence {index} is {length}, but it has {len(words)} tokens"
            )
    return [words[:length] for words, length in zip(padded, lengths)]
