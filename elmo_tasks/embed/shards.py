"""Writes and reads folders of Parquet."""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pyarrow.parquet

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import parse_json
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.sentence_layers import windows
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.part_files import MANIFEST, Parts, is_whole, part_file
from elmo_tasks.embed.parts import Array, EmbedPart, Engine, Part, about_vectors, embed_parts

# The tokens of a part. With `mini`, a part takes 5 to 15 seconds and 100 MB of Parquet. A process
# that is killed loses one part at most.
PART_TOKENS = 65_536


def embed_shards(
    corpus: Corpus,
    folder: str | os.PathLike,
    encoder: ElmoEncoder,
    embedding: str = "all",
    engine: Engine = map,
    force: bool = False,
) -> dict[str, Any]:
    """
    Writes the vectors of a text of any size to a folder: a Parquet file for each part of the text,
    and the manifest last (see `embed_parts`). Returns the manifest.

    # Parameters

    folder: A path, or an address that fsspec knows.

    embedding, engine, force: See `embed`.

    # Raises

    `ValueError`, `ConfigurationError`: As for `Corpus`, or a value is too large for float16.
    """
    about = {"format": "parquet", **about_vectors(encoder, embedding), "part_tokens": PART_TOKENS}
    parts = Parts(folder, about, force)
    write = partial(write_shard, embedding=embedding, num_layers=encoder.bilm.num_layers)
    work = EmbedPart(encoder.layers, write, parts, embedding, encoder.mix)
    manifest = embed_parts(corpus, work, engine, PART_TOKENS, ".parquet")
    print(
        f"{parts.folder} is complete: {len(manifest['parts']):,} parts, "
        f"{manifest['num_sentences']:,} sentences, {manifest['num_tokens']:,} tokens."
    )
    return manifest


def write_shard(
    path: Path, part: Part, arrays: Iterable[Array], embedding: str, num_layers: int
) -> None:
    """
    Writes a file with a row for each sentence of a part: `id`, `tokens`, and the vectors in float16
    (see `vector_columns`). Parquet's row groups are small (see `windows`), so only a few arrays are
    in memory at the same time.
    """
    names = vector_names(embedding, num_layers)
    kinds = {"id": pyarrow.int64(), "tokens": pyarrow.list_(pyarrow.string())}
    kinds |= dict.fromkeys(names, pyarrow.large_list(pyarrow.float16()))
    arrays, ids = iter(arrays), iter(part.ids)
    with pyarrow.parquet.ParquetWriter(
        path,
        pyarrow.schema(kinds),
        compression="zstd",
        use_dictionary=["tokens.list.element"],
        # The numbers' first bytes are alike, and compress better if they are stored together.
        column_encoding={f"{name}.list.element": "BYTE_STREAM_SPLIT" for name in names},
    ) as writer:
        for window in windows(part.sentences):
            rows = {
                "id": pyarrow.array(list(islice(ids, len(window))), kinds["id"]),
                "tokens": pyarrow.array(window, kinds["tokens"]),
                **vector_columns(embedding, num_layers, islice(arrays, len(window))),
            }
            writer.write_table(pyarrow.table(rows))


def read_vectors(folder: str | os.PathLike) -> Iterator[tuple[int, list[str], Array]]:
    """
    Yields the sentences in a folder or at an address, in the order of the text and in bounded
    memory. For each sentence, yields its index in the text, its tokens, and its vectors in float16:
    shape (num_layers, tokens, dim), or (tokens, dim) if there is one vector for each token. Raises
    `ConfigurationError` if the folder is not complete, or a file is damaged.
    """
    try:
        with part_file(folder, MANIFEST) as path:
            manifest = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"{folder} has no {MANIFEST}: it is not complete; run the same elmo-tasks embed again"
        ) from error
    names = vector_names(manifest["embedding"], manifest["num_layers"])
    for part in manifest["parts"]:
        with part_file(folder, part["file"]) as path:
            if not is_whole(path):
                raise ConfigurationError(
                    f"{folder}/{part['file']} is damaged; run the same elmo-tasks embed again, "
                    "which computes it anew"
                )
            yield from _read_shard(path, names, manifest)


def _read_shard(
    path: Path, names: list[str], manifest: dict[str, Any]
) -> Iterator[tuple[int, list[str], Array]]:
    with pyarrow.parquet.ParquetFile(path) as file:
        for rows in file.iter_batches(256):
            ids, tokens = rows["id"].to_pylist(), rows["tokens"].to_pylist()
            for row, (index, words) in enumerate(zip(ids, tokens)):
                shape = len(words), manifest["dim"]
                layers = [rows[name][row].values.to_numpy().reshape(shape) for name in names]
                stacked = numpy.stack(layers) if manifest["embedding"] == "all" else layers[0]
                yield index, words, stacked


def vector_names(embedding: str, num_layers: int) -> list[str]:
    """Returns the names of the columns of vectors: one for each layer, or the embedding's name."""
    return [f"layer_{j}" for j in range(num_layers)] if embedding == "all" else [embedding]


def vector_columns(
    embedding: str, num_layers: int, arrays: Iterable[Array]
) -> dict[str, pyarrow.Array]:
    """
    Makes Arrow columns, named by `vector_names`, from the vectors of sentences (see `vectors`).
    An entry is one flat list of float16, to be reshaped to (tokens, dim). Raises
    `ConfigurationError` if a value is too large for float16.
    """
    names = vector_names(embedding, num_layers)
    values: list[list[Array]] = [[] for _ in names]
    with numpy.errstate(over="ignore"):
        for array in arrays:
            for of_column, layer in zip(values, array if embedding == "all" else [array]):
                of_column.append(layer.reshape(-1).astype(numpy.float16))
    return {name: _lists(name, of_column) for name, of_column in zip(names, values)}


def _lists(name: str, values: list[Array]) -> pyarrow.Array:
    flat = numpy.concatenate([numpy.zeros(0, numpy.float16), *values])
    if not numpy.isfinite(flat).all():
        raise ConfigurationError(
            f"the column {name} has a value that is too large for float16; write HDF5, which "
            "has float32"
        )
    ends = numpy.cumsum([0, *map(len, values)])
    kind = pyarrow.large_list(pyarrow.float16())
    return pyarrow.LargeListArray.from_arrays(pyarrow.array(ends), pyarrow.array(flat), type=kind)
