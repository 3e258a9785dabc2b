import argparse
from collections.abc import Callable
from pathlib import Path

from elmo_tasks.commands.bilm_arguments import add_bilm_options, layers_from_args
from elmo_tasks.commands.command import Command
from elmo_tasks.commands.listed import LISTED
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.owner import own
from elmo_tasks.common.text_files import spooled
from elmo_tasks.encoder.embed import embed, read_text
from elmo_tasks.store.layer_store import LayerStore


class ElmoEmbed(Command):
    """
    Writes the ELMo vectors of a text to HDF5.

    Registered as a `Subcommand` with name "elmo-embed".
    """

    name = "elmo-embed"
    can_be_continued = True
    help = LISTED["embed"].help
    description = """
Write the ELMo vectors of a text, one tokenized sentence a line, to HDF5, in the format of the
command `elmo` of AllenNLP 0.x. With --split, the text is raw, and each sentence that spaCy's rules
find counts as a line; in a table (.csv, .tsv), each row does. Each line has a dataset of float32,
which is named by the index of the line from 0. The dataset `sentence_to_index` is a JSON object
from sentences to these names; a sentence that occurs several times has the name of its last line.
A line without tokens has a dataset of 0 tokens.

If the command is stopped or killed, run it again: it goes on where it was. Until OUT.hdf5 is
complete, the vectors are in OUT.hdf5.partial. At the end both exist for a moment, so the disk needs
room for twice the size of OUT.hdf5.
"""
    examples = """
examples:
  allennlp elmo-embed text.txt text.hdf5
  allennlp elmo-embed text.txt.gz text.hdf5 --average --bilm original --cuda-device 0
  allennlp elmo-embed reviews.csv reviews.hdf5 --column review --split
  allennlp elmo-embed text.txt text.hdf5 --top \\
      --options-file options.json --weight-file weights.hdf5

to read it:
  with h5py.File("text.hdf5") as file:
      vectors = file["0"][...]                               # the first line
      names = json.loads(file["sentence_to_index"][0])       # {"A sentence .": "0", ...}
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add(
            "input_file",
            metavar="IN",
            help="the path or glob pattern of the text, or - for the standard input: plain, or a "
            "table (.csv, .tsv) with a line of names, each also as .gz or .xz",
        )
        add("output_file", metavar="OUT.hdf5", type=Path, help="the file to write")
        add(
            "--column",
            metavar="NAME",
            help="the column of a table that has the sentences (default: sentence or text)",
        )
        add(
            "--split",
            action="store_true",
            help="the text is raw: cut each line into sentences and tokens by spaCy's rules for "
            "English",
        )
        embedding = parser.add_mutually_exclusive_group()
        for name, described in {
            "all": "write all layers, layer 0 first: shape (layers, tokens, dim) (default)",
            "top": "write the top layer: shape (tokens, dim)",
            "average": "write the mean of all layers: shape (tokens, dim)",
        }.items():
            embedding.add_argument(
                f"--{name}", dest="embedding", action="store_const", const=name, help=described
            )
        parser.set_defaults(embedding="all")
        add_bilm_options(parser)
        add(
            "--use-store",
            metavar="DIR",
            help="the folder of a layer store, such as that of a training; rounds to float16",
        )
        add(
            "--forget-sentences",
            action="store_true",
            help="leave out sentence_to_index, which must fit into memory",
        )
        add(
            "--batch-tokens",
            type=int,
            default=2048,
            help="tokens per batch, padding included (default: 2048); a batch of up to 16 long "
            "lines has up to eight times as many",
        )
        add(
            "--force",
            action="store_true",
            help="overwrite OUT.hdf5, and parts of other settings or another text",
        )

    def run(self, args: argparse.Namespace) -> None:
        with own(args.output_file):
            _embed(args)


def _embed(args: argparse.Namespace) -> None:
    if args.output_file.is_dir() or (args.output_file.exists() and not args.force):
        raise ConfigurationError(
            f"{args.output_file} exists; choose another file, or overwrite it with --force"
        )
    split: Callable[[str], list[str]] | None = None
    if args.split:
        # spaCy is imported only when it is needed.
        from elmo_tasks.readers.sentence_splitter import tokenized_sentences

        split = tokenized_sentences
    with spooled(args.input_file) as file:
        _embed_file(args, file, split)


def _embed_file(
    args: argparse.Namespace, file: str, split: Callable[[str], list[str]] | None
) -> None:
    text = read_text(file, args.column, split)
    # Most sentences occur once, so layers kept in memory would hardly be read.
    store = LayerStore(args.use_store, memory=0) if args.use_store else None
    _, sentence_layers = layers_from_args(args, store, batch_tokens=args.batch_tokens)
    embed(
        text,
        args.output_file,
        sentence_layers,
        args.embedding,
        with_sentences=not args.forget_sentences,
        begin_anew=args.force,
    )
