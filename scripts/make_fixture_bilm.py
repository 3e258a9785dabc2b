"""
Makes the tiny biLM of `fixtures/bilm`: random weights from a seed, in the layout of bilm-tf.

    python scripts/make_fixture_bilm.py [FOLDER]

The same seed gives the same values on every machine.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import numpy
import torch

from elmo_tasks.bilm import BiLm

FIXTURE = Path(__file__).parents[1] / "fixtures" / "bilm"
SEED = 1802

# What a product of unit variances gains in standard deviation. One alone leaves the words of a
# sentence too much alike, since all share the padding characters.
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


def make_bilm(seed: int = SEED) -> BiLm:
    """A biLM of `OPTIONS`, drawn from `seed`."""
    bilm = BiLm(OPTIONS)
    draw_weights(bilm, numpy.random.RandomState(seed))
    return bilm


def draw_weights(bilm: BiLm, random: numpy.random.RandomState) -> None:
    """
    Gives `bilm` random weights, wider than those that training starts from, so that every layer
    tells words and sentences apart.
    """
    with torch.no_grad():
        for name, parameter in bilm.named_parameters():
            # Numbers in, of each number out.
            fan_in = parameter[0].numel() if parameter.dim() > 1 else 1
            width = 0.5 if parameter.dim() == 1 else GAIN * math.sqrt(3 / fan_in)
            if name == "char_cnn.embedding":
                width = 1.0
            # NumPy freezes this generator, and a uniform draw has no transcendental function in it.
            drawn = random.uniform(-width, width, tuple(parameter.shape))
            parameter.copy_(torch.from_numpy(drawn))
        bilm.char_cnn.embedding[0] = 0
    bilm.take_snapshot()


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the tiny biLM of the tests.")
    parser.add_argument("folder", nargs="?", default=FIXTURE, type=Path)
    folder = parser.parse_args().folder
    make_bilm().to_files(folder)
    print(f"made {folder / 'options.json'} and {folder / 'weights.hdf5'}")


if __name__ == "__main__":
    main()
