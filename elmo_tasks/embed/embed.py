import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashing import hash_tensors
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.parts import EmbedPart, Engine, Part, cut, in_this_process, lacking
from elmo_tasks.embed.shards import ABOUT, Shards
from elmo_tasks.embed.whole_file import join

logger = logging.getLogger(__name__)

# A line with more tokens than this is probably more than one sentence.
_LONG_LINE = 1000


class Text(NamedTuple):
    """
    A text of tokenized sentences, in one or several files.

    # Parameters

    lines: A function that yields the sentences, each as tokens with a blank between them.
    num_tokens: The number of tokens of all sentences.
    digest: A hash of the sentences.
    """

    lines: Callable[[], Iterator[str]]
    num_tokens: int
    digest: str


def read_text(
    path: str | os.PathLike | list[str],
    column: str | None = None,
    split: Callable[[str], Iterable[str]] | None = None,
) -> Text:
    """
    Reads a text once, counts its tokens and hashes it. Warns about empty lines, and about the
    longest line if it has more than 1000 tokens.

    # Parameters

    path: Paths, glob patterns or addresses, as for `Corpus`.
    column, split: As for `Corpus`.

    # Raises

    `ValueError`: A line cannot be read; the message has the file and the line.
    `ConfigurationError`: The text is empty, or a table has no such column.
    """
    corpus = Corpus(path if isinstance(path, list) else [path], column, split)
    digest = blake2b(digest_size=16)
    line_number = num_tokens = num_empty = longest = longest_line = 0
    for line_number, line in enumerate(corpus.texts(), start=1):
        length = len(line.split())
        num_tokens += length
        num_empty += length == 0
        if length > longest:
            longest, longest_line = length, line_number
        digest.update(line.encode() + b"\n")
    if line_number == 0:
        raise ConfigurationError(f"{corpus} is empty: there is nothing to embed")
    if num_empty:
        logger.warning("%s: %d empty lines get datasets of 0 tokens", corpus, num_empty)
    if longest > _LONG_LINE:
        logger.warning(
            "%s: the longest line, line %d, has %d tokens, and is embedded as one sentence",
            corpus,
            longest_line,
            longest,
        )
    return Text(corpus.texts, num_tokens, digest.hexdigest())


def embed(
    text: Text,
    output_file: Path,
    sentence_layers: SentenceLayers,
    embedding: str = "all",
    with_sentences: bool = True,
    begin_anew: bool = False,
    engine: Engine = in_this_process,
    mix: ElmoMix | None = None,
) -> None:
    """
    Writes the vectors of every sentence of a text to an HDF5 file (see `join`). Until the file is
    whole, its parts are HDF5 files in the folder `PATH.partial` (see `Shards`). If an earlier run
    with the same settings was interrupted, only the missing parts are computed.

    # Parameters

    output_file: The HDF5 file to write.
    embedding (default `'all'`): `all` layers, the `top` layer, the `average` of all layers, or a
        `mix` of them.
    with_sentences (default `True`): Whether to write `sentence_to_index`. It must fit into memory.
    begin_anew (default `False`): Whether a file that was begun with other settings or another text
        is begun again. If not, such a file raises `ConfigurationError`.
    engine (default `in_this_process`): Computes the parts of the text, in one process or several.
    mix: The mix of an `ElmoEncoder`, for the embedding `mix`.
    """
    folder = output_file.with_name(f"{output_file.name}.partial")
    if not (folder / ABOUT).exists():
        # A run may have been killed while it removed its parts.
        shutil.rmtree(folder, ignore_errors=True)
    bilm = sentence_layers.bilm
    about = {
        "format": "hdf5",
        "text": text.digest,
        **about_vectors(sentence_layers, embedding, mix),
        "num_layers": bilm.num_layers,
        "dim": bilm.get_output_dim(),
    }
    shards = Shards(folder, about, begin_anew)
    parts: list[Path] = []
    num_sentences = 0

    def counted() -> Iterator[Part]:
        nonlocal num_sentences
        for part in cut(enumerate(map(str.split, text.lines()))):
            parts.append(folder / shards.file_name(part))
            num_sentences += len(part.ids)
            yield part

    with tqdm(total=text.num_tokens, unit=" tokens", desc="embedding") as progress:
        work = EmbedPart(sentence_layers, embedding, shards, mix)
        for _ in engine(work, lacking(shards, counted(), progress), progress):
            pass
    indices = map(str, range(num_sentences))
    names = dict(zip(text.lines(), indices)) if with_sentences else None
    join(parts, output_file, num_sentences, names)
    shutil.rmtree(folder)
    size = output_file.stat().st_size / 1e6
    print(
        f"Wrote {output_file}: {num_sentences:,} sentences, {text.num_tokens:,} tokens, "
        f"{size:,.1f} MB."
    )


def about_vectors(
    sentence_layers: SentenceLayers, embedding: str, mix: ElmoMix | None = None
) -> dict[str, str]:
    """Returns what the vectors depend on besides the text, under the names used in messages."""
    bilm = sentence_layers.bilm
    about = {
        "embedding": embedding,
        "biLM": bilm.fingerprint().hex(),
        "store": "none" if bilm.store is None else bilm.store.dtype,
    }
    if embedding == "mix" and mix is not None:
        about["mix"] = hash_tensors(mix.weights, mix.gamma).hex()
        if mix.layer_norm is not None:
            about["mix"] += f" layer_norm {mix.layer_norm}"
    return about
