"""Examples of biLM options, of words and of sentences."""

from typing import Any

import torch
from allennlp.modules.elmo import batch_to_ids

# Changes to the default options of `make_options`. The four biLMs differ in filters, highway
# layers, LSTM layers and bounds.
SHAPES: dict[str, dict[str, Any]] = {
    "two_of_each": {},
    "bounds_that_bite": {
        "filters": [[1, 3], [4, 5], [7, 2]],
        "activation": "tanh",
        "n_highway": 1,
        "n_layers": 1,
        "cell_clip": 0.3,
        "proj_clip": 0.2,
    },
    "three_layers_no_highway_no_bounds": {
        "filters": [[2, 6], [50, 4]],
        "n_highway": 0,
        "n_layers": 3,
        "cell_clip": None,
        "proj_clip": None,
    },
    "as_wide_as_its_filters": {
        "filters": [[3, 8]],
        "n_highway": 0,
        "projection_dim": 8,
        "dim": 5,
        "proj_clip": 0.4,
    },
}

SENTENCE = ["It", "'s", "a", "naïve", "film", ",", "with", "<b>", "of", "100", "%", "charm", "."]
WORDS = [
    *("x" * length for length in range(1, 61)),
    *("\u00e9" * length for length in (23, 24, 25, 30)),
    "x" + "\u00e9" * 24,
    "\U0001f600",
    "\u6f22\u5b57",
    "\u00a0",
    "",
    "<S>",
    "</S>",
    "\x00",
    "y" * 300,
]


def sentences(*lengths: int) -> list[list[str]]:
    """Returns different sentences of these lengths."""
    return [
        [WORDS[(7 * row + 3 * index) % len(WORDS)] for index in range(length)]
        for row, length in enumerate(lengths)
    ]


def ids_of(batch: list[list[str]], more_padding: int = 0) -> torch.Tensor:
    """Returns the char ids of a batch, of shape (batch, length + more_padding, 50)."""
    # If no sentence has a token, AllenNLP leaves out the last dimension.
    ids = batch_to_ids(batch).reshape(len(batch), -1, 50)
    return torch.nn.functional.pad(ids, (0, 0, 0, more_padding))
