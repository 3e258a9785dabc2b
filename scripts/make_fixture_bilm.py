"""
Makes the tiny biLM of `fixtures/bilm`: random weights in bilm-tf's layout.

    python scripts/make_fixture_bilm.py [FOLDER]

The seed is fixed, and gives the same weights on every machine.
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy
import torch

from elmo_tasks.bilm import BiLm, make_bilm

FIXTURE = Path(__file__).parents[1] / "fixtures" / "bilm"
SEED = 1802

# The standard deviation of a product whose inputs have a deviation of 1. With 1.0 the vectors of
# the words of a sentence would be too similar, because all words share the padding characters.
GAIN = 1.5

OPTIONS: dict[str, Any] = {
    "lstm": {
        "use_skip_connections": True,
        "projection_dim": 16,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 32,
        "n_layers": 2,
    },
    "char_cnn": {
        "activation": "relu",
        "filters": [[1, 4], [2, 8], [3, 16], [4, 32]],
        "n_highway": 2,
        "embedding": {"dim": 4},
        "n_characters": 262,
        "max_characters_per_token": 50,
    },
}


def random_bilm() -> BiLm:
    """
    Returns a biLM of `OPTIONS` with weights from wider ranges than training starts from, so that
    every layer has different vectors for different words and sentences.
    """
    bilm, random = make_bilm(OPTIONS), numpy.random.RandomState(SEED)
    with torch.no_grad():
        for name, parameter in bilm.named_parameters():
            # The number of inputs of each output.
            fan_in = parameter[0].numel() if parameter.dim() > 1 else 1
            width = 0.5 if parameter.dim() == 1 else GAIN * math.sqrt(3 / fan_in)
            if name == "char_cnn.embedding":
                width = 1.0
            # NumPy never changes this generator, and uniform numbers need no exp or log, whose last
            # digit depends on the machine.
            drawn = random.uniform(-width, width, tuple(parameter.shape))
            parameter.copy_(torch.from_numpy(drawn))
        bilm.char_cnn.embedding[0] = 0
    bilm.take_snapshot()
    return bilm


if __name__ == "__main__":
    random_bilm().to_files(Path(*sys.argv[1:2] or [str(FIXTURE)]))
