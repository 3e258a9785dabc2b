import argparse
import logging
import os
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Tqdm
from allennlp.common.util import SigTermReceived

from elmo_tasks.commands.bilm_arguments import add_encoder_options, encoder_from_args
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.encoder.embedding_file import EmbeddingFile
from elmo_tasks.encoder.encoder import ElmoEncoder
from elmo_tasks.encoder.sentence_layers import windows
from elmo_tasks.readers.sentences import corpus_files, read_lines
from elmo_tasks.store.layer_store import LayerStore

logger = logging.getLogger(__name__)

_DESCRIPTION = """
Write the ELMo vectors of a text, one tokenized sentence a line, to HDF5, as the command `elmo` of
AllenNLP 0.x did: a dataset of float32 for each line, under its number from 0, and
`sentence_to_index`, the JSON of an object from sentences to these numbers (of a sentence that is
there more than once, to its last). A line without tokens has a dataset of 0 tokens.

The same command again goes on where it was stopped or killed: what is done lies in
OUT.hdf5.partial until OUT.hdf5 appears, whole. At the end both are there: have room for twice its
size.
"""

_EXAMPLES = """
examples:
  allennlp elmo-embed text.txt text.hdf5
  allennlp elmo-embed text.txt.gz text.hdf5 --average --bilm original --cuda-device 0
  allennlp elmo-embed text.txt text.hdf5 --top \\
      --options-file options.json --weight-file weights.hdf5

to read it:
  with h5py.File("text.hdf5") as file:
      vectors = file["0"][...]                               # of the first line
      numbers = json.loads(file["sentence_to_index"][0])     # {"A sentence .": "0", ...}
"""

# From layers of shape (num_layers, tokens, dim) to what is written.
_EMBEDDINGS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "all": lambda layers: layers,
    "top": lambda layers: layers[-1],
    "average": lambda layers: layers.mean(dim=0),
}

# A longer line is hardly one sentence.
_LONG_LINE = 1000


class Text(NamedTuple):
    """
    # Parameters

    files : `list[str]`
        Where it lies: one after the other.
    num_tokens : `int`
        Of all lines.
    digest : `str`
        Of what it says.
    """

    files: list[str]
    num_tokens: int
    digest: str

    def lines(self) -> Iterator[str]:
        return _lines(self.files)


@Subcommand.register("elmo-embed")
class ElmoEmbed(Subcommand):
    """
    Writes the ELMo vectors of a text to HDF5.

    Registered as a `Subcommand` with name "elmo-embed".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description=_DESCRIPTION,
            epilog=_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            help="Write the ELMo vectors of a text to HDF5.",
        )
        add = subparser.add_argument
        add("input_file", metavar="IN", help="the text; plain, .gz or .xz; a path or a pattern")
        add("output_file", metavar="OUT.hdf5", type=Path, help="the file to write")
        embedding = subparser.add_mutually_exclusive_group()
        for name, described in {
            "all": "all layers, of shape (layers, tokens, dim), that of the tokens first (default)",
            "top": "the top layer, of shape (tokens, dim)",
            "average": "the mean of all layers, of shape (tokens, dim)",
        }.items():
            embedding.add_argument(
                f"--{name}", dest="embedding", action="store_const", const=name, help=described
            )
        add_encoder_options(subparser)
        add(
            "--use-store",
            metavar="DIR",
            help="the folder of a store, as trainings have it; vectors are then rounded to float16",
        )
        add(
            "--forget-sentences",
            action="store_true",
            help="write no sentence_to_index, which is made in memory: for a text larger than that",
        )
        add("--batch-tokens", type=int, default=2048, help="tokens in a batch")
        add(
            "--force",
            action="store_true",
            help="overwrite OUT.hdf5, and what was begun with other settings or another text",
        )
        subparser.set_defaults(func=_embed_from_args, embedding="all")
        return subparser


def _embed_from_args(args: argparse.Namespace) -> None:
    try:
        if args.output_file.is_dir() or (args.output_file.exists() and not args.force):
            raise ConfigurationError(
                f"{args.output_file} would be overwritten; choose another file, or --force"
            )
        text = read_text(args.input_file)
        # Each sentence comes once: a memory of layers beside the disk would not be read.
        store = LayerStore(args.use_store, memory=0) if args.use_store else None
        _, encoder = encoder_from_args(args, store, batch_tokens=args.batch_tokens)
        embed(
            text,
            args.output_file,
            encoder,
            args.embedding,
            with_sentences=not args.forget_sentences,
            begin_anew=args.force,
        )
    except (ConfigurationError, OSError, ValueError) as error:
        sys.exit(f"elmo-embed: {error}")
    except (KeyboardInterrupt, SigTermReceived):
        sys.exit("elmo-embed: interrupted; the same command goes on from here")


def read_text(path: str | os.PathLike) -> Text:
    """
    What there is to embed. Raises `ValueError` with file and line where it is not UTF-8, and
    `ConfigurationError` where there is nothing; says what is unusual.
    """
    files = corpus_files(path)
    digest = blake2b(digest_size=16)
    number = num_tokens = num_empty = longest = longest_number = 0
    for number, line in enumerate(_lines(files), start=1):
        length = len(line.split())
        num_tokens += length
        num_empty += length == 0
        if length > longest:
            longest, longest_number = length, number
        digest.update(line.encode() + b"\n")
    if number == 0:
        raise ConfigurationError(f"{path} is empty: there is nothing to embed")
    if num_empty:
        logger.warning("%s: %d empty lines keep their places, with 0 tokens", path, num_empty)
    if longest > _LONG_LINE:
        logger.warning(
            "%s: the longest line, %d, has %d tokens, and is embedded whole, as one sentence",
            path,
            longest_number,
            longest,
        )
    return Text(files, num_tokens, digest.hexdigest())


def embed(
    text: Text,
    output_file: Path,
    encoder: ElmoEncoder,
    embedding: str = "all",
    with_sentences: bool = True,
    begin_anew: bool = False,
) -> None:
    """
    Writes the HDF5 file of a text, from where it was when the same was begun before. The
    parameters are those of the command line.
    """
    about = {
        "text": text.digest,
        "embedding": embedding,
        "biLM": encoder.bilm.fingerprint().hex(),
        "store": "none" if encoder.bilm.store is None else encoder.bilm.store.dtype,
    }
    file = EmbeddingFile(output_file, about, begin_anew)
    if file.num_sentences:
        print(f"{file.num_sentences:,} lines are in {file.folder}: going on from there")
    remaining = islice(text.lines(), file.num_sentences, None)
    with Tqdm.tqdm(
        total=text.num_tokens, initial=file.num_tokens, unit=" tokens", desc="embedding"
    ) as progress:
        for window in windows(map(str.split, remaining)):
            layers = encoder.layers(window, progress)
            file.add([_EMBEDDINGS[embedding](of_sentence).numpy() for of_sentence in layers])
    numbers = map(str, range(file.num_sentences))
    file.finish(dict(zip(text.lines(), numbers)) if with_sentences else None)
    size = output_file.stat().st_size / 1e6
    print(
        f"Wrote {output_file}: {file.num_sentences:,} sentences, {text.num_tokens:,} tokens, "
        f"{size:,.1f} MB."
    )


def _lines(files: list[str]) -> Iterator[str]:
    for file in files:
        for line in read_lines(file):
            yield line.strip()
