"""Makes small language models with random weights, as `elmo-pack` writes them."""

from pathlib import Path

import torch

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.kernels.blocked_product import BlockedProduct
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.softmax import Softmax, write_softmax
from tests.helpers.reference_bilm import make_options

WORDS = "@@UNKNOWN@@ </S> <S> . the dog a cat , old saw house in is gone barks".split()
SENTENCES = [
    "the dog saw a cat in the old house .",
    "a zebra saw the dog .",
    "in the house a dog barks , and the cat is gone .",
    "dog",
    "the old dog and the cat sleep in a house",
]


def random_softmax(dim: int, words: list[str] = WORDS, seed: int = 0) -> Softmax:
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(len(words), dim, generator=generator)
    return Softmax(words, weight, torch.randn(len(words), generator=generator))


def limit_words(softmax: Softmax, max_words: int) -> Softmax:
    """Returns a softmax whose class of unknown words has exactly the rest of the probability."""
    others = BlockedProduct(softmax.weight[max_words + 1 :], softmax.bias[max_words + 1 :])
    own = softmax.words[: max_words + 1]
    parts = softmax.weight[: len(own)], softmax.bias[: len(own)]
    return Softmax(own, *parts, left_out=others)  # type: ignore[arg-type]


def random_bilm(state: str = "reset") -> BiLm:
    torch.manual_seed(1)
    bilm = make_bilm(make_options(), state=state, requires_grad=state == "carry").eval()
    # Larger weights than at the start of a training, so that the layers differ.
    for name, parameter in bilm.named_parameters():
        if "stack" in name:
            parameter.data.mul_(2)
    bilm.take_snapshot()
    return bilm


def random_model(state: str = "reset") -> LanguageModel:
    """Returns a language model in float32."""
    bilm = random_bilm(state)
    return LanguageModel(bilm, random_softmax(bilm.options.projection_dim))


def written_model(folder: Path, max_words: int | None = None) -> Path:
    """Writes a language model, and returns its folder."""
    bilm = random_bilm()
    bilm.to_files(folder)
    read = make_bilm(folder / "options.json", folder / "weights.hdf5")
    softmax = random_softmax(bilm.options.projection_dim).in_8_bits(max_words)
    write_softmax(folder, softmax, read)
    return folder
