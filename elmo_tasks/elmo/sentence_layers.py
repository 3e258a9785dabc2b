from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Union

import torch
from tqdm import tqdm

from elmo_tasks.bilm import BiLm, FrozenBiLm
from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import check_positive
from elmo_tasks.kernels.threads import operator_threads

# A sentence is a list of tokens, or a text that is cut into tokens.
Sentence = Union[str, Sequence[str]]

# A function that cuts a text into tokens. A token is a string, or an object with the string as its
# attribute `text`, as in spaCy and AllenNLP.
Tokenizer = Callable[[str], Iterable[Any]]

# The size of the groups in which sentences are sorted by length (see `windows`). The layers of a
# group are in memory at once: 200 MB for a biLM of the original size.
WINDOW_TOKENS = 16384

# Batches of fewer sentences are slow, so a batch of up to this many may have more tokens. With
# lines of 1,000 tokens, `mini` is five times as fast at 16 lines a batch as at 2.
MIN_SENTENCES = 16


class SentenceLayers:
    """
    Computes the layers of sentences, in batches of sentences of similar length. The layers of a
    sentence do not depend on the other sentences.

    # Parameters

    bilm: The biLM, on any device. If it trains or carries state between batches, a frozen copy is
        used.
    batch_tokens (default `2048`): The maximum number of tokens per batch, padding included. A batch
        of at most 16 long sentences may have eight times as many.
    """

    def __init__(self, bilm: BiLm, batch_tokens: int = 2048) -> None:
        check_positive("batch_tokens", batch_tokens)
        frozen = isinstance(bilm, FrozenBiLm)
        if frozen and not bilm.training and bilm.state_name != "carry":
            self.bilm = bilm
        else:
            self.bilm = FrozenBiLm.of(bilm, bilm.store if frozen else None)
        self.batch_tokens = batch_tokens

    def __call__(
        self, sentences: Iterable[list[str]], progress: tqdm | None = None
    ) -> Iterator[torch.Tensor]:
        """
        Yields the layers of each sentence of a stream, in order, in bounded memory: shape
        (num_layers, length, 2 * projection_dim), on the CPU. Layer 0 is x^LM, twice side by side.
        The tensors of one batch are views of the same memory. `progress` counts the tokens.
        """
        max_characters = self.bilm.options.max_characters
        for window in windows(sentences):
            layers = [self.no_layers()] * len(window)
            lengths = list(map(len, window))
            for batch in batches_by_length(lengths, self.batch_tokens, MIN_SENTENCES):
                with operator_threads(1):
                    char_ids = batch_char_ids([window[index] for index in batch], max_characters)
                computed = self.bilm(char_ids.to(self.bilm.like.device)).layers
                for index, row in zip(batch, computed.cpu()):
                    layers[index] = row[:, : len(window[index])]
                if progress is not None:
                    progress.update(sum(len(window[index]) for index in batch))
            yield from layers

    def no_layers(self) -> torch.Tensor:
        """Returns the layers of a sentence without tokens."""
        return torch.zeros(self.bilm.num_layers, 0, self.bilm.get_output_dim())


def windows(
    sentences: Iterable[list[str]], num_tokens: int | None = None
) -> Iterator[list[list[str]]]:
    """
    Yields sentences in groups. A group ends as soon as the number of its tokens and the number of
    its sentences add up to `num_tokens` or more, by default `WINDOW_TOKENS`.
    """
    num_tokens = WINDOW_TOKENS if num_tokens is None else num_tokens
    window: list[list[str]] = []
    size = 0
    for words in sentences:
        window.append(words)
        # A sentence counts 1 besides its tokens, so that a group of empty sentences ends too.
        size += len(words) + 1
        if size >= num_tokens:
            yield window
            window, size = [], 0
    if window:
        yield window


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
