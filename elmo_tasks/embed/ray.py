"""
Adds ELMo vectors to datasets of Ray Data. This is a module and not a package, because AllenNLP's
`--include-package elmo_tasks` would import Ray itself in place of an inner package named `ray`.
"""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow
import ray

from elmo_tasks.common.errors import check_choice
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.locate import DEFAULT_BILM
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.elmo.sentences import Tokenizer, sentences_of
from elmo_tasks.embed.parts import EMBEDDINGS, vectors
from elmo_tasks.embed.ray_engine import Cluster, SharedLayers
from elmo_tasks.embed.shards import vector_columns

if TYPE_CHECKING:
    # This import takes half a second, so `embed` does it only when it is called.
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
    Adds ELMo vectors to a Ray dataset of sentences, computed when the dataset is read.

        dataset = ray.data.read_parquet("s3://bucket/sentences")
        embed(dataset, column="sentence", embedding="average").write_parquet("vectors")

    Each row keeps its columns and gets `tokens`, and columns of vectors in float16: `layer_0`,
    `layer_1`, ... for the embedding `all`, otherwise one named after the embedding. An entry is one
    flat list: `numpy.reshape(entry, (num_tokens, -1))` has shape (tokens, dim). Each machine has
    one copy of the weights.

    # Parameters

    bilm, place, dtype, batch_tokens: As for `ElmoEncoder.from_pretrained`.
    column (default `'text'`): The column of the sentences, which are texts or lists of tokens.
    embedding (default `'all'`): `all` layers, the `top` layer, the `average` of all layers, or the
        trained `mix`.
    tokenizer: Cuts a text into tokens. By default texts are cut at blanks.
    num_actors: The number of processes that embed. By default the number of GPUs. Without GPUs, the
        number of CPUs less one, because reading the dataset needs a CPU.

    # Raises

    `ConfigurationError`: There is no such biLM or embedding, or Ray has too few CPUs or GPUs (the
        dataset would wait for ever) or too small an object store.
    """
    import ray.data

    check_choice("embedding", embedding, EMBEDDINGS)
    encoder = ElmoEncoder.from_pretrained(bilm, place, dtype=dtype, batch_tokens=batch_tokens)
    shared = SharedLayers.of(encoder.layers)
    cluster = Cluster.of_ray()
    row_bytes = 2 * _ROW_TOKENS * encoder.bilm.num_layers * encoder.bilm.get_output_dim()
    # The store must hold two batches: one is written while another is read.
    cluster.require_store(shared.num_bytes + 2 * _ROWS * row_bytes)
    return dataset.map_batches(
        _Embedder,
        fn_constructor_args=(column, embedding, encoder.mix, tokenizer),
        # Ray warns of object references in a constructor's arguments, and does not look into lists.
        fn_kwargs={"shared": [ray.put(shared)]},
        batch_size=_ROWS,
        batch_format="pyarrow",
        # One CPU is left for reading the dataset.
        compute=ray.data.ActorPoolStrategy(size=cluster.num_processes(num_actors, others=1)),
        **cluster.share,
    )


@dataclass
class _Embedder:
    """Adds the columns of vectors to a batch of rows, in a process of its own."""

    column: str
    embedding: str
    mix: ElmoMix
    tokenizer: Tokenizer | None
    layers: SentenceLayers | None = None

    def __call__(self, rows: pyarrow.Table, shared: list[Any]) -> pyarrow.Table:
        if self.layers is None:
            self.layers = ray.get(shared[0]).open()
        texts = rows[self.column].to_pylist()
        sentences = list(sentences_of(texts, self.tokenizer))
        arrays = (
            vectors(of_sentence, self.embedding, self.mix).numpy()
            for of_sentence in self.layers.of_tokens(sentences)
        )
        columns = vector_columns(self.embedding, self.layers.bilm.num_layers, arrays)
        tokens = pyarrow.array(sentences, pyarrow.list_(pyarrow.string()))
        for name, values in {"tokens": tokens, **columns}.items():
            if name in rows.column_names:
                rows = rows.drop_columns(name)
            rows = rows.append_column(name, values)
        return rows
