"""
Writes the weights of the tiny biLM of `fixtures/bilm`, in bilm-tf's layout: random numbers of a
fixed seed, which are the same on every machine.
"""

import math
from pathlib import Path

import numpy
import torch

from elmo_tasks.bilm import BiLm, make_bilm

FIXTURE = Path(__file__).parents[1] / "fixtures" / "bilm"
SEED = 1802

# The standard deviation of a product whose inputs have a deviation of 1. With 1.0 the vectors of
# the words of a sentence would be too similar, because all words share the padding characters.
GAIN = 1.5


def random_bilm() -> BiLm:
    """
    Returns a biLM of the fixture's options, with weights from wider ranges than training starts
    from, so that every layer has different vectors for different words and sentences.
    """
    bilm, random = make_bilm(FIXTURE / "options.json"), numpy.random.RandomState(SEED)
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
    random_bilm().to_files(FIXTURE)
