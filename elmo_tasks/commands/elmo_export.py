import argparse
from pathlib import Path

from elmo_tasks.bilm.files.options import num_parameters
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.archives import load_bilm


class ElmoExport(Command):
    """
    Writes the options and weights of an archive's biLM.

    Registered as a `Subcommand` with name "elmo-export".
    """

    name = "elmo-export"
    help = CATALOG["export"].help
    description = """
Write the biLM of an archive as options.json and weights.hdf5, the two files that AllenNLP, bilm-tf
and elmo_tasks read. The archive may contain any model with a biLM: a language model, a task model
with ELMo, or another model with the token embedder elmo_bilm.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("archive_file", metavar="ARCHIVE", help="the model.tar.gz or the folder of a training")
        add("folder", metavar="DIR", help="the folder to write to")
        add(
            "--name",
            help="the name of the biLM, if there are several, such as text_embedder.bilm",
        )
        add(
            "--dtype",
            choices=("float16", "float32"),
            default="float32",
            help="the dtype of the weights (default: float32); AllenNLP reads both",
        )
        add(
            "--weights-file",
            help="read these weights, such as a checkpoint, in place of the best ones",
        )
        add("--force", action="store_true", help="overwrite the two files if they exist")

    def run(self, args: argparse.Namespace) -> None:
        files = [Path(args.folder) / name for name in ("options.json", "weights.hdf5")]
        there = [str(file) for file in files if file.exists()]
        if there and not args.force:
            raise ConfigurationError(
                f"{' and '.join(there)} would be overwritten; choose another folder, or use --force"
            )
        name, bilm = load_bilm(args.archive_file, args.name, args.weights_file)
        bilm.to_files(args.folder, args.dtype)
        print(
            f"Wrote {files[0]} and {files[1]}: the biLM {name} of {args.archive_file}, "
            f"{num_parameters(bilm.options):,} parameters as {args.dtype}, "
            f"state {bilm.state_name}."
        )
