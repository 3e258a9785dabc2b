from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy
import torch
from tqdm import tqdm

from elmo_tasks.common.tensors import hash_tensors
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers, windows
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.part_files import Parts

Array = numpy.ndarray

# The vectors that are written for a sentence: all layers, the top layer, their mean, or a trained
# mix.
EMBEDDINGS = ("all", "top", "average", "mix")


def vectors(layers: torch.Tensor, embedding: str, mix: ElmoMix) -> torch.Tensor:
    """
    Returns the vectors to write for a sentence with layers of shape (num_layers, tokens, dim). The
    embedding `all` gives the layers themselves; any other embedding gives shape (tokens, dim).
    `mix` is the mix of an `ElmoEncoder`.
    """
    match embedding:
        case "all":
            return layers
        case "top":
            return layers[-1]
        case "average":
            return layers.mean(dim=0)
    return mix.of_sentence(layers)


def about_vectors(encoder: ElmoEncoder, embedding: str) -> dict[str, str | int]:
    """
    Returns the settings on which the vectors depend, by their names in messages. The text is not
    among them.
    """
    bilm, mix = encoder.bilm, encoder.mix
    about: dict[str, str | int] = {"embedding": embedding, "biLM": bilm.fingerprint().hex()}
    dim = bilm.get_output_dim()
    if embedding == "mix":
        about["mix"] = f"{hash_tensors(mix.weights, mix.gamma).hex()} {mix.settings}"
        dim = encoder.get_output_dim()
    return {**about, "num_layers": bilm.num_layers, "dim": dim}


@dataclass(frozen=True)
class Part:
    """Consecutive sentences of a text, the index of the first one, and the suffix of their file."""

    index: int
    first: int
    sentences: list[list[str]]
    suffix: str

    @property
    def ids(self) -> range:
        """The indices of the sentences in the text."""
        return range(self.first, self.first + len(self.sentences))

    @property
    def num_tokens(self) -> int:
        return sum(map(len, self.sentences))

    @property
    def name(self) -> str:
        text = "\n".join([str(self.first), *map(" ".join, self.sentences)])
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        return f"part-{self.index:06}-{digest}{self.suffix}"


@dataclass(frozen=True)
class EmbedPart:
    """
    Computes the vectors of a part, an array for each sentence, and passes them to `write_file`.
    Returns the number of tokens. `embedding` and `mix` are as for `vectors`.
    """

    sentence_layers: SentenceLayers
    write_file: Callable[[Path, Part, Iterable[Array]], None]
    parts: Parts
    embedding: str
    mix: ElmoMix

    def __call__(self, part: Part) -> int:
        layers = self.sentence_layers.of_tokens(part.sentences)
        arrays = (vectors(layer, self.embedding, self.mix).numpy() for layer in layers)
        with self.parts.write(part.name) as path:
            self.write_file(path, part, arrays)
        return part.num_tokens


# Yields what `EmbedPart` returns for each part, in this process (`map`), in several processes of
# this machine (`in_processes`) or on Ray (`on_ray`).
Engine = Callable[[EmbedPart, Iterable[Part]], Iterator[int]]


def embed_parts(
    corpus: Corpus, work: EmbedPart, engine: Engine, part_tokens: int | None, suffix: str
) -> dict[str, Any]:
    """
    Embeds a text part by part, and writes and returns the manifest: the file of each part, and the
    numbers of sentences and tokens. The text is read once, as a stream. Parts that an earlier run
    with the same settings wrote are not computed again.

    # Parameters

    part_tokens: A part ends as soon as its tokens and its sentences, counted together, are this
        many (by default `WINDOW_TOKENS`). So the same text is always cut into the same parts.
    suffix: The suffix of the files' names.
    """
    manifest: dict[str, Any] = {
        "texts": corpus.files,
        "num_sentences": 0,
        "num_tokens": 0,
        "parts": [],
    }
    with tqdm(unit=" tokens", desc="embedding") as progress:

        def missing_parts() -> Iterator[Part]:
            """Enters all parts in the manifest, and yields those without a file."""
            for index, window in enumerate(windows(map(str.split, corpus), part_tokens)):
                part = Part(index, manifest["num_sentences"], window, suffix)
                counts = {"num_sentences": len(window), "num_tokens": part.num_tokens}
                manifest["parts"].append({"file": part.name, **counts})
                for name, count in counts.items():
                    manifest[name] += count
                # This is an estimate until the whole text has been read.
                progress.total = int(manifest["num_tokens"] / max(corpus.share_read, 1e-9))
                if work.parts.has(index, part.name):
                    # Parts found on disk do not count in the bar's speed.
                    progress.initial += part.num_tokens
                    progress.update(part.num_tokens)
                else:
                    yield part

        for num_tokens in engine(work, missing_parts()):
            progress.update(num_tokens)
    return work.parts.finish(manifest)
