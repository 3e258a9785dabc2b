from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy
import torch
from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import hash_tensors
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers, windows
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.part_files import MANIFEST, Parts

Array = numpy.ndarray

# What is written for a sentence: all layers, the top layer, their mean, or a trained mix.
EMBEDDINGS = ("all", "top", "average", "mix")

# The manifest lists at most this many lines that cannot be read, and counts all of them.
_LISTED = 10_000

_GOING_ON = "{:,} lines are in {}: going on from there"


def vectors(layers: torch.Tensor, embedding: str, mix: ElmoMix) -> torch.Tensor:
    """
    Returns what is written for a sentence with layers of shape (num_layers, tokens, dim): for the
    embedding `all` the layers, otherwise vectors of shape (tokens, dim). `mix` is that of an
    `ElmoEncoder`.
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
    """Returns what the vectors depend on besides the text, under the names used in messages."""
    bilm, mix = encoder.bilm, encoder.mix
    about: dict[str, str | int] = {
        "embedding": embedding,
        "biLM": bilm.fingerprint().hex(),
        "store": "none" if bilm.store is None else bilm.store.dtype,
    }
    dim = bilm.get_output_dim()
    if embedding == "mix":
        norm = "" if mix.layer_norm is None else f" layer_norm {mix.layer_norm}"
        about["mix"] = hash_tensors(mix.weights, mix.gamma).hex() + norm
        dim = encoder.get_output_dim()
    return {**about, "num_layers": bilm.num_layers, "dim": dim}


@dataclass(frozen=True)
class Part:
    """
    Consecutive sentences of a text, their indices in it (`ids`), and the suffix of their file.
    """

    index: int
    ids: list[int]
    sentences: list[list[str]]
    suffix: str

    @property
    def num_tokens(self) -> int:
        return sum(map(len, self.sentences))

    @property
    def name(self) -> str:
        text = "\n".join([str(self.ids), *map(" ".join, self.sentences)])
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        return f"part-{self.index:06}-{digest}{self.suffix}"


@dataclass(frozen=True)
class EmbedPart:
    """
    Computes the vectors of a part, an array for each sentence, and lets `write_file` write them.
    Returns the number of tokens. `embedding` and `mix` are as for `vectors`.
    """

    sentence_layers: SentenceLayers
    write_file: Callable[[Path, Part, Iterable[Array]], None]
    parts: Parts
    embedding: str
    mix: ElmoMix

    def __call__(self, part: Part) -> int:
        layers = self.sentence_layers(part.sentences)
        arrays = (vectors(layer, self.embedding, self.mix).numpy() for layer in layers)
        with self.parts.write(part.name) as path:
            self.write_file(path, part, arrays)
        return part.num_tokens


# Yields what `EmbedPart` returns for each part, in this process (`map`), in several processes of
# this machine (`in_processes`) or on Ray (`on_ray`).
Engine = Callable[[EmbedPart, Iterable[Part]], Iterator[int]]


def embed_parts(
    corpus: Corpus,
    work: EmbedPart,
    engine: Engine,
    part_tokens: int | None,
    suffix: str,
    index: dict[str, str] | None = None,
) -> tuple[dict[str, Any], int]:
    """
    Embeds a text part by part, and writes the manifest. The text is read once, as a stream. Parts
    that an earlier run with the same settings wrote are not computed again. A line that cannot be
    read is left out, counted, and listed in the manifest; its index stays unused.

    # Parameters

    part_tokens, suffix: As `num_tokens` and `suffix` of `cut`.
    index: Gets the index of each sentence by its text.

    # Returns

    The manifest, and the number of parts that were computed.
    """
    manifest: dict[str, Any] = {"texts": corpus.files}
    manifest |= dict.fromkeys(("num_sentences", "num_tokens", "num_bad_lines"), 0)
    manifest |= {"bad_lines": [], "parts": []}
    num_computed = 0
    with tqdm(unit=" tokens", desc="embedding") as progress:
        parts = cut(_sentences(corpus, manifest, index), part_tokens, suffix)
        missing = _missing(parts, work.parts, manifest, corpus, progress)
        for num_tokens in engine(work, missing):
            progress.update(num_tokens)
            num_computed += 1
        if num_computed == 0 and manifest["num_sentences"]:
            progress.write(_GOING_ON.format(manifest["num_sentences"], work.parts.folder))
    if not manifest["parts"]:
        raise ConfigurationError(f"{corpus} has no line that can be embedded")
    work.parts.finish(len(manifest["parts"]), manifest)
    for bad in manifest["bad_lines"][:1]:
        print(
            f"{manifest['num_bad_lines']:,} lines could not be read and are left out; {MANIFEST} "
            f"lists them. The first is {bad['file']}:{bad['line']}: {bad['fault']}"
        )
    return {"complete": True, **work.parts.about, **manifest}, num_computed


def _sentences(
    corpus: Corpus, manifest: dict[str, Any], index: dict[str, str] | None
) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(corpus):
        if line.fault is None:
            if index is not None:
                index[line.values["text"]] = str(number)
            yield number, line.values["text"].split()
            continue
        manifest["num_bad_lines"] += 1
        if manifest["num_bad_lines"] <= _LISTED:
            bad = {"file": line.file, "line": line.line, "fault": line.fault}
            manifest["bad_lines"].append(bad)


def _missing(
    parts: Iterable[Part], folder: Parts, manifest: dict[str, Any], corpus: Corpus, progress: tqdm
) -> Iterator[Part]:
    """Enters all parts in the manifest, and yields those without a file."""
    num_there, said = 0, False
    for part in parts:
        counts = {"num_sentences": len(part.ids), "num_tokens": part.num_tokens}
        manifest["parts"].append({"file": part.name, **counts})
        for name, count in counts.items():
            manifest[name] += count
        # This is an estimate until the whole text has been read.
        progress.total = int(manifest["num_tokens"] / max(corpus.share_read, 1e-9))
        if folder.has(part.index, part.name):
            num_there += len(part.ids)
            # Parts found on disk do not count in the bar's speed.
            progress.initial += part.num_tokens
            progress.update(part.num_tokens)
            continue
        if num_there and not said:
            progress.write(_GOING_ON.format(num_there, folder.folder))
        said = True
        yield part


def cut(
    sentences: Iterable[tuple[int, list[str]]], num_tokens: int | None, suffix: str
) -> Iterator[Part]:
    """
    Yields the parts of a text, given as the index and the tokens of each sentence. The same text is
    always cut into the same parts: each ends when it has `num_tokens` tokens and sentences
    together, by default `WINDOW_TOKENS`.
    """
    ids: list[int] = []

    def noted() -> Iterator[list[str]]:
        for index, words in sentences:
            ids.append(index)
            yield words

    for index, window in enumerate(windows(noted(), num_tokens)):
        yield Part(index, ids.copy(), window, suffix)
        ids.clear()
