from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy
import torch

from elmo_tasks.common.hashing import hash_tensors
from elmo_tasks.common.parts import Parts
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers, windows

Array = numpy.ndarray

# What is written for a sentence: all layers, the top layer, their mean, or a trained mix.
EMBEDDINGS = ("all", "top", "average", "mix")


def vectors(layers: torch.Tensor, embedding: str, mix: ElmoMix | None = None) -> torch.Tensor:
    """
    Returns the vectors that are written for a sentence.

    # Parameters

    layers: Shape (num_layers, tokens, dim).
    embedding: One of `EMBEDDINGS`.
    mix: The mix of an `ElmoEncoder`, for the embedding `mix`.

    # Returns

    Shape (num_layers, tokens, dim) for `all`, otherwise (tokens, dim).
    """
    match embedding:
        case "all":
            return layers
        case "top":
            return layers[-1]
        case "average":
            return layers.mean(dim=0)
    assert mix is not None
    return mix.of_sentence(layers)


def about_vectors(
    sentence_layers: SentenceLayers, embedding: str, mix: ElmoMix | None
) -> dict[str, str | int]:
    """Returns what the vectors depend on besides the text, under the names used in messages."""
    bilm = sentence_layers.bilm
    about: dict[str, str | int] = {
        "embedding": embedding,
        "biLM": bilm.fingerprint().hex(),
        "store": "none" if bilm.store is None else bilm.store.dtype,
    }
    dim = bilm.get_output_dim()
    if embedding == "mix" and mix is not None:
        norm = "" if mix.layer_norm is None else f" layer_norm {mix.layer_norm}"
        about["mix"] = hash_tensors(mix.weights, mix.gamma).hex() + norm
        dim = mix.get_output_dim(dim)
    return {**about, "num_layers": bilm.num_layers, "dim": dim}


@dataclass(frozen=True)
class Part:
    """
    Consecutive sentences of a text.

    # Parameters

    index: The index of the part in the text.
    ids: The index of each sentence in the text.
    sentences: The tokens of each sentence.
    suffix: The suffix of its file.
    """

    index: int
    ids: list[int]
    sentences: list[list[str]]
    suffix: str

    @property
    def num_tokens(self) -> int:
        """The number of tokens of all sentences."""
        return sum(map(len, self.sentences))

    @property
    def name(self) -> str:
        """The name of the part's file."""
        text = "\n".join([str(self.ids), *map(" ".join, self.sentences)])
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        return f"part-{self.index:06}-{digest}{self.suffix}"


@dataclass(frozen=True)
class EmbedPart:
    """
    Computes the vectors of a part and writes them to its file. Returns the number of tokens.

    # Parameters

    write_file: Writes the vectors of a part, an array for each sentence, to a path.
    parts: The folder of the files.
    embedding: One of `EMBEDDINGS`.
    mix: The mix of an `ElmoEncoder`, for the embedding `mix`.
    """

    sentence_layers: SentenceLayers
    write_file: Callable[[Path, Part, Iterable[Array]], None]
    parts: Parts
    embedding: str
    mix: ElmoMix | None

    def __call__(self, part: Part) -> int:
        layers = self.sentence_layers(part.sentences)
        arrays = (vectors(layer, self.embedding, self.mix).numpy() for layer in layers)
        with self.parts.write(part.name) as path:
            self.write_file(path, part, arrays)
        return part.num_tokens


# Yields what `EmbedPart` returns for each part, in this process (`in_this_process`), in several
# processes of this machine (`in_processes`) or on Ray (`on_ray`).
Engine = Callable[[EmbedPart, Iterable[Part]], Iterator[int]]


def in_this_process(work: EmbedPart, parts: Iterable[Part]) -> Iterator[int]:
    return map(work, parts)


def cut(
    sentences: Iterable[tuple[int, list[str]]], num_tokens: int | None, suffix: str
) -> Iterator[Part]:
    """
    Yields the parts of a text. The same text is always cut into the same parts.

    # Parameters

    sentences: The index and the tokens of each sentence.
    num_tokens: A part ends when it has at least this many tokens and sentences together, by default
        `WINDOW_TOKENS`.
    suffix: The suffix of the parts' files.
    """
    ids: list[int] = []

    def noted() -> Iterator[list[str]]:
        for index, words in sentences:
            ids.append(index)
            yield words

    for index, window in enumerate(windows(noted(), num_tokens)):
        yield Part(index, ids.copy(), window, suffix)
        ids.clear()
