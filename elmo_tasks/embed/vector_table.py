from collections.abc import Iterable

import numpy
import pyarrow

from elmo_tasks.common.errors import ConfigurationError


def vector_names(embedding: str, num_layers: int) -> list[str]:
    """Returns the names of the columns of vectors: one for each layer, or the embedding's name."""
    return [f"layer_{j}" for j in range(num_layers)] if embedding == "all" else [embedding]


def vector_columns(
    embedding: str, num_layers: int, arrays: Iterable[numpy.ndarray]
) -> dict[str, pyarrow.Array]:
    """
    Makes Arrow's columns of vectors in float16: one for each layer, or one with the name of the
    embedding. The entry of a sentence is one flat list of its tokens' vectors, to be reshaped to
    (tokens, dim).

    # Parameters

    embedding: One of `EMBEDDINGS`.
    num_layers: The number of layers of the biLM, the token layer included.
    arrays: The vectors of each sentence: shape (num_layers, tokens, dim) for the embedding `all`,
        otherwise (tokens, dim).

    # Raises

    `ConfigurationError`: A value is too large for float16.
    """
    names = vector_names(embedding, num_layers)
    values: list[list[numpy.ndarray]] = [[] for _ in names]
    with numpy.errstate(over="ignore"):
        for array in arrays:
            for of_column, layer in zip(values, array if embedding == "all" else [array]):
                of_column.append(layer.reshape(-1).astype(numpy.float16))
    return {name: _lists(name, of_column) for name, of_column in zip(names, values)}


def _lists(name: str, values: list[numpy.ndarray]) -> pyarrow.Array:
    flat = numpy.concatenate([numpy.zeros(0, numpy.float16), *values])
    if not numpy.isfinite(flat).all():
        raise ConfigurationError(
            f"the column {name} has a value beyond float16; write HDF5, which has float32"
        )
    ends = numpy.cumsum([0, *map(len, values)])
    kind = pyarrow.large_list(pyarrow.float16())
    return pyarrow.LargeListArray.from_arrays(pyarrow.array(ends), pyarrow.array(flat), type=kind)
