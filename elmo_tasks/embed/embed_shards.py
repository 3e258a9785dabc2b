import os
from functools import partial
from typing import Any

from elmo_tasks.common.errors import check_at_least
from elmo_tasks.common.parts import Parts
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.parts import EmbedPart, Engine, about_vectors, in_this_process
from elmo_tasks.embed.shards import write_shard
from elmo_tasks.embed.text_parts import TextParts

# The tokens of a part. With `mini`, a part takes 5 to 15 seconds and 100 MB of Parquet.
PART_TOKENS = 65_536


def embed_shards(
    corpus: Corpus,
    folder: str | os.PathLike,
    sentence_layers: SentenceLayers,
    embedding: str = "all",
    part_tokens: int = PART_TOKENS,
    begin_anew: bool = False,
    engine: Engine = in_this_process,
    mix: ElmoMix | None = None,
) -> dict[str, Any]:
    """
    Writes the vectors of a text of any size to a folder: a Parquet file for each part of the text,
    and the manifest last (see `Parts`). A line that cannot be read is left out, counted, and listed
    in the manifest; its index stays unused.

    # Parameters

    folder: A path, or an address that fsspec knows.
    embedding, begin_anew, engine, mix: As for `embed`.
    part_tokens (default `65536`): Tokens in a part. A killed process loses one part at most.

    # Returns

    The manifest.

    # Raises

    `ConfigurationError`: The text has no line that can be embedded, or a value is too large for
        float16.
    """
    check_at_least("the number of tokens of a part", part_tokens)
    about = about_vectors(sentence_layers, embedding, mix)
    about = {"format": "parquet", **about, "part_tokens": part_tokens}
    parts = Parts(folder, about, begin_anew)
    text = TextParts(corpus, parts, part_tokens, ".parquet")
    write = partial(write_shard, embedding=embedding, num_layers=sentence_layers.bilm.num_layers)
    num_computed = text.embed(EmbedPart(sentence_layers, write, parts, embedding, mix), engine)
    if num_computed:
        print(
            f"Wrote {parts.folder}: {len(text.files):,} parts, {text.num_sentences:,} sentences, "
            f"{text.num_tokens:,} tokens."
        )
    else:
        print(f"{parts.folder} is complete: all {len(text.files):,} parts were there.")
    return text.finish()
