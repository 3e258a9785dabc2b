import os
from collections.abc import Iterator
from typing import Any

from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.embed import about_vectors
from elmo_tasks.embed.parts import EmbedPart, Engine, Part, cut, in_this_process, lacking
from elmo_tasks.embed.shards import FORMATS, MANIFEST, Shards

# The tokens of a part. With `mini`, a part takes 5 to 15 seconds and 100 MB of Parquet.
PART_TOKENS = 65_536

# The manifest lists at most this many lines that cannot be read, and counts all of them.
_LISTED = 10_000


def embed_shards(
    corpus: Corpus,
    folder: str | os.PathLike,
    sentence_layers: SentenceLayers,
    embedding: str = "all",
    format: str = "parquet",
    part_tokens: int = PART_TOKENS,
    begin_anew: bool = False,
    engine: Engine = in_this_process,
    mix: ElmoMix | None = None,
) -> dict[str, Any]:
    """
    Writes the vectors of a text to a folder. There is a file for each part of the text (see
    `Shards`), and the manifest is written last. The text is read once, as a stream. Parts that an
    earlier run with the same settings wrote are not computed again. A line that cannot be read is
    left out, counted, and listed in the manifest; its index stays unused.

    # Parameters

    folder: A path, or an address that fsspec knows.
    embedding (default `'all'`): `all` layers, the `top` layer, the `average` of all layers, or a
        `mix` of them.
    format (default `'parquet'`): `parquet`, in float16, or `hdf5`, in float32.
    part_tokens (default `65536`): Tokens in a part. A killed process loses one part at most.
    begin_anew (default `False`): Whether files of an earlier run with other settings or another
        text are removed. If not, they raise `ConfigurationError`.
    engine (default `in_this_process`): Computes the parts, on one or several processes or machines.
    mix: The mix of an `ElmoEncoder`, for the embedding `mix`.

    # Returns

    The manifest.
    """
    check_choice("format", format, FORMATS)
    if part_tokens < 1:
        raise ConfigurationError(f"a part must have at least 1 token, not {part_tokens}")
    bilm = sentence_layers.bilm
    dim = bilm.get_output_dim()
    shards = Shards(
        folder,
        {
            "format": format,
            **about_vectors(sentence_layers, embedding, mix),
            "num_layers": bilm.num_layers,
            "dim": mix.get_output_dim(dim) if mix and embedding == "mix" else dim,
            "part_tokens": part_tokens,
        },
        begin_anew,
    )
    found = _Found(corpus, shards)
    num_computed = 0
    with tqdm(unit=" tokens", desc="embedding") as progress:
        parts = lacking(shards, found.parts(part_tokens, progress), progress)
        for _ in engine(EmbedPart(sentence_layers, embedding, shards, mix), parts, progress):
            num_computed += 1
    manifest = found.manifest()
    if not manifest["parts"]:
        raise ConfigurationError(f"{corpus} has no line that can be embedded")
    shards.finish(manifest)
    _report(shards, manifest, num_computed)
    return manifest


class _Found:
    """Counts what is found in a text while it is cut into parts."""

    def __init__(self, corpus: Corpus, shards: Shards) -> None:
        self._corpus = corpus
        self._shards = shards
        self._files: list[dict[str, Any]] = []
        self._bad: list[dict[str, Any]] = []
        self._num_bad = 0
        self._num_sentences = 0
        self._num_tokens = 0

    def parts(self, part_tokens: int, progress: tqdm) -> Iterator[Part]:
        for part in cut(self._sentences(), part_tokens):
            self._num_sentences += len(part.ids)
            self._num_tokens += part.num_tokens
            name = self._shards.file_name(part)
            counts = {"num_sentences": len(part.ids), "num_tokens": part.num_tokens}
            self._files.append({"file": name, **counts})
            # This is an estimate until the whole text has been read.
            progress.total = int(self._num_tokens / max(self._corpus.share_read, 1e-9))
            yield part

    def manifest(self) -> dict[str, Any]:
        return {
            "texts": self._corpus.files,
            "num_sentences": self._num_sentences,
            "num_tokens": self._num_tokens,
            "num_bad_lines": self._num_bad,
            "bad_lines": self._bad,
            "parts": self._files,
        }

    def _sentences(self) -> Iterator[tuple[int, list[str]]]:
        for index, line in enumerate(self._corpus):
            if line.fault is None:
                yield index, line.text.split()
                continue
            self._num_bad += 1
            if self._num_bad <= _LISTED:
                self._bad.append({"file": line.file, "line": line.number, "fault": line.fault})


def _report(shards: Shards, manifest: dict[str, Any], num_computed: int) -> None:
    num_parts, bad = len(manifest["parts"]), manifest["bad_lines"]
    if num_computed:
        print(
            f"Wrote {shards.folder}: {num_parts:,} parts, {manifest['num_sentences']:,} sentences, "
            f"{manifest['num_tokens']:,} tokens."
        )
    else:
        print(f"{shards.folder} is complete: all {num_parts:,} parts were there.")
    if bad:
        first = bad[0]
        print(
            f"{manifest['num_bad_lines']:,} lines could not be read and are left out; {MANIFEST} "
            f"lists them. The first is {first['file']}:{first['line']}: {first['fault']}"
        )
