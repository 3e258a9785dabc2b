"""A text that is made up, for measurements where no text is at hand."""

import functools
import random

import torch

NUM_WORDS = 50_000


def made_up_text(num_sentences: int) -> list[list[str]]:
    """
    Returns sentences of 20 tokens on average. The logarithm of a word's rank is uniform, so that
    few words are frequent, as in a language.
    """
    drawn, words = random.Random(1), _words()
    return [
        [words[int(len(words) ** drawn.random()) - 1] for _ in range(length)]
        for length in (1 + min(99, int(drawn.expovariate(1 / 19))) for _ in range(num_sentences))
    ]


def word_ids(sentences: list[list[str]]) -> torch.Tensor:
    """
    Returns the ids of words, shape (batch, length): 0 is padding, 1 any other word, and the others
    have their ranks.
    """
    ranks = {word: rank for rank, word in enumerate(_words(), start=2)}
    rows = [torch.tensor([ranks.get(word, 1) for word in words]) for words in sentences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


@functools.cache
def _words() -> list[str]:
    """Returns different words of random letters, the most frequent first."""
    letters, words = random.Random(0), dict[str, None]()
    while len(words) < NUM_WORDS - 2:
        words["".join(letters.choices("eeeettaaoinshrdlucmfwypvbgk", k=letters.randint(1, 12)))] = (
            None
        )
    return list(words)
