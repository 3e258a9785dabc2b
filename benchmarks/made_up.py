"""What is measured where nothing is at hand: biLMs of known sizes, and a text that is made up."""

import functools
import json
import random
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.elmo.locate import locate_bilm

NUM_WORDS = 50_000
# The sizes of biLMs that are part of the package.
SHIPPED = ["mini", "base"]
# The released sizes: memory of an LSTM, output of an LSTM, number of highway layers.
SIZES = {"small": (1024, 128, 1), "medium": (2048, 256, 1), "original": (4096, 512, 2)}
FILTERS = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]]


def make_options(size: str) -> dict[str, Any]:
    """Returns the options of one of `SHIPPED` or `SIZES`."""
    if size in SHIPPED:
        return json.loads(Path(locate_bilm(size).options).read_text(encoding="utf-8"))
    cell_dim, projection_dim, num_highway = SIZES[size]
    return {
        "lstm": {
            "use_skip_connections": True,
            "projection_dim": projection_dim,
            "cell_clip": 3,
            "proj_clip": 3,
            "dim": cell_dim,
            "n_layers": 2,
        },
        "char_cnn": {
            "activation": "relu",
            "filters": FILTERS,
            "n_highway": num_highway,
            "embedding": {"dim": 16},
            "n_characters": 262,
            "max_characters_per_token": 50,
        },
        "state": "reset",
    }


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
