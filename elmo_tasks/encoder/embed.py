import logging
import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import torch
from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tables import choose_column, delimiter_of, read_table
from elmo_tasks.common.text_files import corpus_files, read_lines
from elmo_tasks.encoder.embedding_file import EmbeddingFile
from elmo_tasks.encoder.sentence_layers import SentenceLayers, windows

logger = logging.getLogger(__name__)

# Each takes layers of shape (num_layers, tokens, dim) and returns the vectors to write.
EMBEDDINGS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "all": lambda layers: layers,
    "top": lambda layers: layers[-1],
    "average": lambda layers: layers.mean(dim=0),
}

# The columns of a table that are looked for if none is named.
_COLUMNS = ("sentence", "text")

# A line with more tokens than this is probably not one sentence.
_LONG_LINE = 1000


class Text(NamedTuple):
    """
    A text of tokenized sentences, in one or several files.

    # Parameters

    lines : `Callable[[], Iterator[str]]`
        Reads the sentences, each as its tokens with a blank between them.
    num_tokens : `int`
        The number of tokens of all sentences.
    digest : `str`
        A hash of the sentences.
    """

    lines: Callable[[], Iterator[str]]
    num_tokens: int
    digest: str


def read_text(
    path: str | os.PathLike,
    column: str | None = None,
    split: Callable[[str], Iterable[str]] | None = None,
) -> Text:
    """
    Reads a text once, counts its tokens and hashes it. Logs a warning about empty lines and about a
    line of more than 1000 tokens.

    # Parameters

    path : `str | os.PathLike`
        The path or glob pattern of files with one tokenized sentence a line, or one in a row of a
        table, `.csv` or `.tsv`.
    column : `str`, optional
        The column of a table that has the sentences, by default `sentence` or `text`.
    split : `Callable[[str], Iterable[str]]`, optional
        Cuts a line or field of raw text into tokenized sentences.

    # Raises

    `ValueError`
        A line is not UTF-8, or no row of its table; the message has the file and the line.
    `ConfigurationError`
        The text is empty, or a table has no such column.
    """
    files = corpus_files(path)

    def lines() -> Iterator[str]:
        texts = (text for file in files for text in _texts(file, column))
        return texts if split is None else chain.from_iterable(map(split, texts))

    digest = blake2b(digest_size=16)
    line_number = num_tokens = num_empty = longest = longest_line = 0
    for line_number, line in enumerate(lines(), start=1):
        length = len(line.split())
        num_tokens += length
        num_empty += length == 0
        if length > longest:
            longest, longest_line = length, line_number
        digest.update(line.encode() + b"\n")
    if line_number == 0:
        raise ConfigurationError(f"{path} is empty: there is nothing to embed")
    if num_empty:
        logger.warning("%s: %d empty lines get datasets of 0 tokens", path, num_empty)
    if longest > _LONG_LINE:
        logger.warning(
            "%s: the longest line, line %d, has %d tokens, and is embedded as one sentence",
            path,
            longest_line,
            longest,
        )
    return Text(lines, num_tokens, digest.hexdigest())


def embed(
    text: Text,
    output_file: Path,
    sentence_layers: SentenceLayers,
    embedding: str = "all",
    with_sentences: bool = True,
    begin_anew: bool = False,
) -> None:
    """
    Writes the layers of every line of a text to an HDF5 file (see `EmbeddingFile`). If an earlier
    run with the same settings was interrupted, continues with the first line that is missing.

    # Parameters

    text : `Text`
    output_file : `Path`
        The HDF5 file to write.
    sentence_layers : `SentenceLayers`
    embedding : `str`, optional (default = `'all'`)
        `all` layers, the `top` layer, or the `average` of all layers.
    with_sentences : `bool`, optional (default = `True`)
        Whether `sentence_to_index` is written, which must fit into memory.
    begin_anew : `bool`, optional (default = `False`)
        Whether a file that was begun with other settings or another text is begun again; otherwise
        it raises `ConfigurationError`.
    """
    about = {
        "text": text.digest,
        "embedding": embedding,
        "biLM": sentence_layers.bilm.fingerprint().hex(),
        "store": "none" if sentence_layers.bilm.store is None else sentence_layers.bilm.store.dtype,
    }
    file = EmbeddingFile(output_file, about, begin_anew)
    if file.num_sentences:
        print(f"{file.num_sentences:,} lines are in {file.folder}: going on from there")
    remaining = islice(text.lines(), file.num_sentences, None)
    with tqdm(
        total=text.num_tokens, initial=file.num_tokens, unit=" tokens", desc="embedding"
    ) as progress:
        for window in windows(map(str.split, remaining)):
            layers = sentence_layers(window, progress)
            file.add([EMBEDDINGS[embedding](of_sentence).numpy() for of_sentence in layers])
    indices = map(str, range(file.num_sentences))
    file.finish(dict(zip(text.lines(), indices)) if with_sentences else None)
    size = output_file.stat().st_size / 1e6
    print(
        f"Wrote {output_file}: {file.num_sentences:,} sentences, {text.num_tokens:,} tokens, "
        f"{size:,.1f} MB."
    )


def _texts(file: str, column: str | None) -> Iterator[str]:
    """Yields each line of a file, or the field of each row of a table."""
    if delimiter_of(file) is not None:
        name = choose_column(file, column, _COLUMNS)
        for row in read_table(file):
            # A field may have line ends.
            yield " ".join(row.values[name].split())
    elif column is not None:
        raise ConfigurationError(f"{file} is no table (.csv or .tsv) and has no column {column}")
    else:
        for line in read_lines(file):
            yield line.strip()
