"""
Ray Data with ELMo: `elmo_tasks.embed.ray.embed`. This is no package, because AllenNLP's
`--include-package elmo_tasks` would import Ray itself in place of an inner package named `ray`.
"""

import os
from typing import TYPE_CHECKING

import pyarrow

from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM
from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.common.spelling import listed
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.elmo.tokens import Tokenizer, tokenize
from elmo_tasks.embed.parts import EMBEDDINGS, vectors
from elmo_tasks.embed.ray_cluster import Cluster
from elmo_tasks.embed.shards import vector_columns
from elmo_tasks.embed.shared_bilm import SharedBiLm, SharedLayers

if TYPE_CHECKING:
    # This import takes half a second, and the processes of `ray_engine.py` do not need it.
    from ray.data import Dataset

# The number of rows in a batch. The sentences of a batch are sorted by length.
_ROWS = 512

# An estimate of the tokens of a row, to estimate the memory of a batch.
_ROW_TOKENS = 32


def embed(
    dataset: "Dataset",
    bilm: str | os.PathLike = DEFAULT_BILM,
    column: str = "text",
    embedding: str = "all",
    place: str | None = None,
    tokenizer: Tokenizer | None = None,
    num_actors: int | None = None,
    batch_tokens: int = 2048,
    dtype: str | None = None,
) -> "Dataset":
    """
    Adds ELMo vectors to a Ray dataset of sentences. They are computed when the dataset is read.

        dataset = ray.data.read_parquet("s3://bucket/sentences")
        embed(dataset, column="sentence", embedding="average").write_parquet("vectors")

    Each row keeps its columns and gets `tokens`, and a column of vectors in float16: `layer_0`,
    `layer_1`, ... for the embedding `all`, otherwise a column named after the embedding. An entry
    is one flat list of all tokens' vectors. `numpy.reshape(entry, (num_tokens, -1))` has shape
    (tokens, dim). Each machine has one copy of the weights.

    # Parameters

    bilm, place: As for `ElmoEncoder.from_pretrained`.
    column (default `'text'`): The column of the sentences, which are texts or lists of tokens.
    embedding (default `'all'`): `all` layers, the `top` layer, the `average` of all layers, or the
        trained `mix`.
    tokenizer: Cuts a text into tokens. By default texts are cut at blanks.
    num_actors: The number of processes that embed. By default the number of GPUs. Without GPUs, the
        number of CPUs less one, because reading the dataset needs a CPU.
    batch_tokens (default `2048`): As for `ElmoEncoder`.
    dtype: The dtype of the matrix products, as for `ElmoEncoder.from_pretrained`.

    # Raises

    `ConfigurationError`: There is no such biLM or embedding, Ray has too few CPUs or GPUs (the
        dataset would wait for ever), or an object store is too small.
    """
    import ray.data

    check_choice("embedding", embedding, EMBEDDINGS)
    encoder = ElmoEncoder.from_pretrained(bilm, place, dtype=dtype, tokenizer=tokenizer)
    shared = SharedBiLm.of(encoder.bilm)
    cluster = Cluster.of_ray()
    row_bytes = 2 * _ROW_TOKENS * encoder.bilm.num_layers * encoder.bilm.get_output_dim()
    # The store must hold two batches: one is written while another is read.
    cluster.require_store(shared.num_bytes + 2 * _ROWS * row_bytes)
    most = cluster.num_gpus or cluster.num_cpus - 1
    number = most if num_actors is None else num_actors
    if not 1 <= number <= most:
        raise ConfigurationError(
            f"Ray has {cluster.num_gpus} GPUs and {cluster.num_cpus} CPUs, and a CPU reads the "
            f"dataset: the number of actors must be from 1 to {most}, not {number}"
        )
    return dataset.map_batches(
        _Embedder,
        fn_constructor_args=(column, embedding, encoder.mix, tokenizer),
        # Ray warns of object references in a constructor's arguments, and these layers hold one.
        fn_kwargs={"layers": SharedLayers(ray.put(shared), batch_tokens)},
        batch_size=_ROWS,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=number),
        **({"num_gpus": 1} if cluster.num_gpus else {"num_cpus": 1}),
    )


class _Embedder:
    """Adds the columns of vectors to a batch of rows, in a process of its own."""

    def __init__(
        self, column: str, embedding: str, mix: ElmoMix, tokenizer: Tokenizer | None
    ) -> None:
        self._layers: SentenceLayers | None = None
        self._column = column
        self._embedding = embedding
        self._mix = mix
        self._tokenizer = tokenizer

    def __call__(self, rows: pyarrow.Table, layers: SharedLayers) -> pyarrow.Table:
        if self._layers is None:
            self._layers = layers.open()
        if self._column not in rows.column_names:
            raise ConfigurationError(
                f"the dataset has no column {self._column}; choose one of "
                f"{listed(rows.column_names)}"
            )
        texts = rows[self._column].to_pylist()
        sentences = [tokenize(text, self._tokenizer) for text in texts]
        arrays = (
            vectors(of_sentence, self._embedding, self._mix).numpy()
            for of_sentence in self._layers(sentences)
        )
        columns = vector_columns(self._embedding, self._layers.bilm.num_layers, arrays)
        tokens = pyarrow.array(sentences, pyarrow.list_(pyarrow.string()))
        for name, values in {"tokens": tokens, **columns}.items():
            if name in rows.column_names:
                rows = rows.drop_columns(name)
            rows = rows.append_column(name, values)
        return rows
