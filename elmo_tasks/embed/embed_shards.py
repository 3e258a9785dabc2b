import os
from functools import partial
from typing import Any

from elmo_tasks.common.errors import check_at_least
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.part_files import Parts
from elmo_tasks.embed.parts import EmbedPart, Engine, about_vectors, embed_parts
from elmo_tasks.embed.shards import write_shard

# The tokens of a part. With `mini`, a part takes 5 to 15 seconds and 100 MB of Parquet.
PART_TOKENS = 65_536


def embed_shards(
    corpus: Corpus,
    folder: str | os.PathLike,
    sentence_layers: SentenceLayers,
    embedding: str = "all",
    part_tokens: int = PART_TOKENS,
    begin_anew: bool = False,
    engine: Engine = map,
    mix: ElmoMix | None = None,
) -> dict[str, Any]:
    """
    Writes the vectors of a text of any size to a folder, a path or an address that fsspec knows: a
    Parquet file for each part of the text, and the manifest last (see `embed_parts`). Returns the
    manifest.

    # Parameters

    embedding, begin_anew, engine, mix: As for `embed`.
    part_tokens (default `65536`): Tokens in a part. A killed process loses one part at most.

    # Raises

    `ConfigurationError`: No line can be embedded, or a value is too large for float16.
    """
    check_at_least("the number of tokens of a part", part_tokens)
    about = about_vectors(sentence_layers, embedding, mix)
    about = {"format": "parquet", **about, "part_tokens": part_tokens}
    parts = Parts(folder, about, begin_anew)
    write = partial(write_shard, embedding=embedding, num_layers=sentence_layers.bilm.num_layers)
    work = EmbedPart(sentence_layers, write, parts, embedding, mix)
    manifest, num_computed = embed_parts(corpus, work, engine, part_tokens, ".parquet")
    num_parts = len(manifest["parts"])
    if num_computed:
        print(
            f"Wrote {parts.folder}: {num_parts:,} parts, {manifest['num_sentences']:,} sentences, "
            f"{manifest['num_tokens']:,} tokens."
        )
    else:
        print(f"{parts.folder} is complete: all {num_parts:,} parts were there.")
    return manifest
