from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.common.text_files import spooled
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.embed import embed, read_text
from elmo_tasks.embed.embed_shards import embed_shards
from elmo_tasks.embed.parts import Engine
from elmo_tasks.embed.words import embed_words


class EmbedJob(NamedTuple):
    """
    Holds what `elmo-embed` shall write, and writes it.

    # Parameters

    files: The texts, as for `Corpus`; "-" alone is the standard input.
    output: The HDF5 file, or the folder of files.
    format: The format of the files in a folder, or `None` for one HDF5 file.
    column, split: As for `Corpus`.
    embedding, part_tokens, begin_anew: As for `embed_shards`.
    with_sentences: As for `embed`.
    words: The format of a file with one vector a word. If given, only this file is written.
    num_words: As for `embed_words`.
    """

    files: list[str]
    output: str
    format: str | None
    column: str | None
    split: Callable[[str], Iterable[str]] | None
    embedding: str
    part_tokens: int
    begin_anew: bool
    with_sentences: bool
    words: str | None
    num_words: int

    def run(self, open_encoder: Callable[[], ElmoEncoder], engine: Engine) -> None:
        """Writes the vectors. The encoder is opened only after the text has been found."""
        if self.files != ["-"]:
            self._run(open_encoder, engine)
            return
        with spooled("-") as file:
            self._replace(files=[file])._run(open_encoder, engine)

    def _run(self, open_encoder: Callable[[], ElmoEncoder], engine: Engine) -> None:
        if self.words is not None:
            corpus = Corpus(self.files, self.column, self.split)
            embed_words(
                corpus.texts,
                self.output,
                open_encoder(),
                self.embedding,
                self.words,
                self.num_words,
            )
            return
        if self.format is None:
            text = read_text(self.files, self.column, self.split)
            encoder = open_encoder()
            embed(
                text,
                Path(self.output),
                encoder.layers,
                self.embedding,
                self.with_sentences,
                self.begin_anew,
                engine,
                encoder.mix,
            )
            return
        corpus = Corpus(self.files, self.column, self.split)
        encoder = open_encoder()
        embed_shards(
            corpus,
            self.output,
            encoder.layers,
            self.embedding,
            self.format,
            self.part_tokens,
            self.begin_anew,
            engine,
            encoder.mix,
        )
