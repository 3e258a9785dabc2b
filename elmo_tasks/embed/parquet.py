from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet

from elmo_tasks.elmo.sentence_layers import windows
from elmo_tasks.embed.parts import Part
from elmo_tasks.embed.vector_table import vector_columns, vector_names


def write_parquet(
    path: Path, part: Part, arrays: Iterable[numpy.ndarray], embedding: str, num_layers: int
) -> None:
    """
    Writes a Parquet file with a row for each sentence of a part: `id`, `tokens`, and the vectors in
    float16 (see `vector_columns`). Row groups are small (see `windows`), so few arrays are in
    memory at once.
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


def read_parquet(
    path: Path, embedding: str, num_layers: int, dim: int
) -> Iterator[tuple[int, list[str], numpy.ndarray]]:
    """Yields the index, the tokens and the vectors, in float16, of each sentence."""
    names = vector_names(embedding, num_layers)
    with pyarrow.parquet.ParquetFile(path) as file:
        for rows in file.iter_batches(256):
            ids, tokens = rows["id"].to_pylist(), rows["tokens"].to_pylist()
            for row, (index, words) in enumerate(zip(ids, tokens)):
                layers = [rows[name][row].values.to_numpy() for name in names]
                vectors = numpy.stack([layer.reshape(len(words), dim) for layer in layers])
                yield index, words, vectors if embedding == "all" else vectors[0]
