import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable
from itertools import chain, tee
from pathlib import Path

import h5py
import numpy
import torch
from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write, open_text
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.part_files import Parts, is_whole
from elmo_tasks.embed.parts import (
    Array,
    EmbedPart,
    Engine,
    Part,
    about_vectors,
    embed_parts,
    vectors,
)

# The most bytes that HDF5 and the index need for a sentence besides its values.
_DATASET_BYTES = 1000


def embed(
    corpus: Corpus,
    output_file: Path,
    encoder: ElmoEncoder,
    embedding: str = "all",
    engine: Engine = map,
    force: bool = False,
) -> None:
    """
    Writes the vectors of every sentence of a text to an HDF5 file, as `allennlp elmo` did: a
    dataset of float32 for each sentence, named by its index `0`, `1`, ... The dataset
    `sentence_to_index` is a JSON object that maps sentences to these names; it must fit into
    memory. Until the file is whole, its parts are in the folder `PATH.partial` (see `Parts`).

    # Parameters

    embedding: The vectors to write: `all` layers, the `top` layer, the `average` of all layers, or
        the `mix` of the encoder.
    engine: Computes the parts, in one process or several.
    force: Whether parts of an earlier run with other settings or text are replaced.

    # Raises

    `ValueError`: A line cannot be read; the message has the file and the line.
    `ConfigurationError`: The text is empty, a table has no such column, or the disk is too full.
    """
    # All lines are read here, so that a damaged line is found before anything is computed.
    index = {text: str(number) for number, text in enumerate(corpus)}
    folder = output_file.with_name(f"{output_file.name}.partial")
    parts = Parts(folder, about_vectors(encoder, embedding), force)
    work = EmbedPart(encoder.layers, _write_part, parts, embedding, encoder.mix)
    manifest = embed_parts(corpus, work, engine, None, ".hdf5")
    files = [folder / part["file"] for part in manifest["parts"]]
    _join(files, output_file, manifest["num_sentences"], index)
    parts.remove()
    size = output_file.stat().st_size / 1e6
    print(
        f"Wrote {output_file}: {manifest['num_sentences']:,} sentences, "
        f"{manifest['num_tokens']:,} tokens, {size:,.1f} MB."
    )


def _write_part(path: Path, part: Part, arrays: Iterable[Array]) -> None:
    # The file is made in memory first: HDF5 ends the process if a disk is full.
    with h5py.File(path, "w", driver="core", backing_store=False) as file:
        for index, array in zip(part.ids, arrays):
            file.create_dataset(str(index), data=array, dtype=numpy.float32)
        file.flush()
        path.write_bytes(file.id.get_file_image())


def _join(
    parts: list[Path], path: Path, num_sentences: int, sentence_to_index: dict[str, str]
) -> None:
    """Joins the parts into one file. The file appears when it is whole."""
    num_bytes = sum(part.stat().st_size for part in parts) + _DATASET_BYTES * num_sentences
    free = shutil.disk_usage(parts[0].parent).free
    if free < num_bytes:
        # HDF5 itself would end the process.
        raise ConfigurationError(
            f"{path} needs {num_bytes / 1e9:.1f} GB, but only {free / 1e9:.1f} GB of the disk are "
            "free; make room and run the same command again: it goes on from here"
        )
    whole = parts[0].with_name(".whole.hdf5")
    # Without the order of making, h5py lists the names as 0, 1, 10, 11, ...
    with h5py.File(whole, "w", track_order=True) as file:
        for part in parts:
            if not is_whole(part):
                raise ConfigurationError(
                    f"{part} was damaged after it was written: run the same command again, which "
                    "computes it anew"
                )
            with h5py.File(part, "r") as source:
                for name in sorted(source, key=int):
                    h5py.h5o.copy(source.id, name.encode(), file.id, name.encode())
        dataset = file.create_dataset("sentence_to_index", (1,), h5py.string_dtype())
        dataset[0] = json.dumps(sentence_to_index)
    with open(whole, "r+b") as target:
        os.fsync(target.fileno())
    whole.replace(path)


def embed_words(
    lines: Iterable[str],
    output_file: str | os.PathLike,
    encoder: ElmoEncoder,
    embedding: str,
    num_words: int,
) -> None:
    """
    Writes one vector for each of the most frequent words of a text, the most frequent word first.
    The vector is the mean over the word's occurrences. The file has the text format of word2vec,
    which Gensim and other tools read. It appears when it is whole. Raises `ConfigurationError` if
    the text has no word.

    # Parameters

    lines: The sentences: tokens with a blank between them. `lines` is iterated over twice.
    embedding: The `top` layer, the `average` of all layers, or the encoder's `mix`.
    num_words: The number of words, 1 or more.
    """
    counts = Counter(chain.from_iterable(map(str.split, lines)))
    if not counts:
        raise ConfigurationError("the text is empty: there is nothing to embed")
    # Equally frequent words are in alphabetical order.
    words = sorted(counts, key=lambda word: (-counts[word], word))[:num_words]
    rows = {word: row for row, word in enumerate(words)}
    dim = encoder.get_output_dim() if embedding == "mix" else encoder.bilm.get_output_dim()
    sums = torch.zeros(len(words), dim, dtype=torch.float64)
    numbers = torch.zeros(len(words), 1, dtype=torch.float64)
    sentences, tokens = tee(map(str.split, lines))
    with tqdm(unit=" tokens", desc="embedding", total=counts.total()) as progress:
        for sentence, layers in zip(sentences, encoder.layers.of_tokens(tokens, progress)):
            of_tokens = vectors(layers, embedding, encoder.mix)
            indices = [index for index, word in enumerate(sentence) if word in rows]
            word_rows = torch.tensor([rows[sentence[index]] for index in indices], dtype=torch.long)
            sums.index_add_(0, word_rows, of_tokens[indices].double())
            numbers.index_add_(0, word_rows, torch.ones(len(word_rows), 1, dtype=torch.float64))
    means = (sums / numbers).float().numpy()
    with atomic_write(output_file) as aside, open_text(aside, output_file) as file:
        file.write("{} {}\n".format(*means.shape))
        for word, mean in zip(words, means):
            file.write(f"{word} {' '.join(map(str, mean))}\n")
    size = Path(output_file).stat().st_size / 1e6
    print(
        f"Wrote {output_file}: {len(words):,} words, {means.shape[1]} numbers each, {size:.1f} MB."
    )
