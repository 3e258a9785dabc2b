import argparse
from pathlib import Path

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.commands.bilm_arguments import add_encoder_options, encoder_from_args
from elmo_tasks.commands.command import Command
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.encoder.embed import embed, read_text
from elmo_tasks.store.layer_store import LayerStore


@Subcommand.register("elmo-embed")
class ElmoEmbed(Command):
    """
    Writes the ELMo vectors of a text to HDF5.

    Registered as a `Subcommand` with name "elmo-embed".
    """

    can_be_continued = True
    help = "Write the ELMo vectors of a text to HDF5."
    description = """
Write the ELMo vectors of a text, one tokenized sentence a line, to HDF5, as the command `elmo` of
AllenNLP 0.x did: a dataset of float32 for each line, under its number from 0, and
`sentence_to_index`, the JSON of an object from sentences to these numbers (of a sentence that is
there more than once, to its last). A line without tokens has a dataset of 0 tokens.

The same command again goes on where it was stopped or killed: what is done lies in
OUT.hdf5.partial until OUT.hdf5 appears, whole. At the end both are there: have room for twice its
size.
"""
    examples = """
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

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("input_file", metavar="IN", help="the text; plain, .gz or .xz; a path or a pattern")
        add("output_file", metavar="OUT.hdf5", type=Path, help="the file to write")
        embedding = parser.add_mutually_exclusive_group()
        for name, described in {
            "all": "all layers, of shape (layers, tokens, dim), that of the tokens first (default)",
            "top": "the top layer, of shape (tokens, dim)",
            "average": "the mean of all layers, of shape (tokens, dim)",
        }.items():
            embedding.add_argument(
                f"--{name}", dest="embedding", action="store_const", const=name, help=described
            )
        parser.set_defaults(embedding="all")
        add_encoder_options(parser)
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

    def run(self, args: argparse.Namespace) -> None:
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
