from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
import torch
from tqdm import tqdm

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


@dataclass(frozen=True)
class Part:
    """
    Consecutive sentences of a text.

    # Parameters

    index: The index of the part in the text.
    ids: The index of each sentence in the text.
    sentences: The tokens of each sentence.
    """

    index: int
    ids: list[int]
    sentences: list[list[str]]

    @property
    def num_tokens(self) -> int:
        """The number of tokens of all sentences."""
        return sum(map(len, self.sentences))


class EmbedPart(NamedTuple):
    """
    Computes the vectors of a part and writes them to an output.

    # Parameters

    embedding: One of `EMBEDDINGS`.
    mix: The mix of an `ElmoEncoder`, for the embedding `mix`.
    """

    sentence_layers: SentenceLayers
    embedding: str
    output: Any
    mix: ElmoMix | None = None

    def __call__(self, part: Part, progress: tqdm | None = None) -> None:
        layers = self.sentence_layers(part.sentences, progress)
        of_sentences = (vectors(layer, self.embedding, self.mix).numpy() for layer in layers)
        self.output.add(part, of_sentences)


# Runs `EmbedPart` on parts, in this process or in others. Yields each part when it is done, in any
# order, and moves the progress bar by its tokens.
Engine = Callable[[EmbedPart, Iterable[Part], tqdm], Iterator[Part]]


def in_this_process(work: EmbedPart, parts: Iterable[Part], progress: tqdm) -> Iterator[Part]:
    """Computes the parts in order and yields each when done."""
    for part in parts:
        work(part, progress)
        yield part


def cut(
    sentences: Iterable[tuple[int, list[str]]], num_tokens: int | None = None
) -> Iterator[Part]:
    """
    Yields the parts of a text. The same text is always cut into the same parts.

    # Parameters

    sentences: The index and the tokens of each sentence.
    num_tokens (default `WINDOW_TOKENS`): A part ends when it has at least this many tokens and
        sentences together.
    """
    ids: list[int] = []

    def noted() -> Iterator[list[str]]:
        for index, words in sentences:
            ids.append(index)
            yield words

    for index, window in enumerate(windows(noted(), num_tokens)):
        yield Part(index, ids.copy(), window)
        ids.clear()


def lacking(output: Any, parts: Iterable[Part], progress: tqdm) -> Iterator[Part]:
    """
    Yields the parts that an output lacks. Moves the progress bar over the parts that the output
    has, and prints how many sentences come before the first missing part.
    """
    num_sentences, said = 0, False

    def say() -> None:
        if num_sentences and not said:
            progress.write(f"{num_sentences:,} lines are in {output.folder}: going on from there")

    for part in parts:
        if output.has(part):
            num_sentences += len(part.ids)
            # Parts found on disk do not count in the bar's speed.
            progress.initial += part.num_tokens
            progress.update(part.num_tokens)
        else:
            say()
            said = True
            yield part
    say()
