import argparse
import os
import sys
from pathlib import Path

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.bilm.files.layout import num_parameters
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.archives import load_bilm

_DESCRIPTION = """
Write the biLM of an archive as options.json and weights.hdf5, the two files that AllenNLP, bilm-tf
and this package read. The archive may be of any model with a biLM in it: a language model, a task
model with ELMo, or another model with the token embedder elmo_bilm.
"""


@Subcommand.register("elmo-export")
class ElmoExport(Subcommand):
    """
    Writes the two files of a biLM from an archive that holds it.

    Registered as a `Subcommand` with name "elmo-export".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description=_DESCRIPTION,
            help="Write the options and weights of the biLM in an archive.",
        )
        subparser.add_argument(
            "archive_file", metavar="ARCHIVE", help="a model.tar.gz, or the folder of a training"
        )
        subparser.add_argument(
            "folder", metavar="DIR", help="the folder to write to; it is made where it is missing"
        )
        subparser.add_argument(
            "--name", help="which biLM, where the model has several: text_embedder.bilm"
        )
        subparser.add_argument(
            "--dtype",
            choices=("float16", "float32"),
            default="float32",
            help="float16 halves the file; AllenNLP reads both",
        )
        subparser.add_argument(
            "--weights-file", help="other weights than the best, such as those of a checkpoint"
        )
        subparser.add_argument(
            "--force", action="store_true", help="overwrite the two files where they are there"
        )
        subparser.set_defaults(func=_export_from_args)
        return subparser


def _export_from_args(args: argparse.Namespace) -> None:
    try:
        print(
            export(
                args.archive_file,
                args.folder,
                name=args.name,
                dtype=args.dtype,
                weights_file=args.weights_file,
                force=args.force,
            )
        )
    except (ConfigurationError, OSError) as error:
        sys.exit(f"elmo-export: {error}")


def export(
    archive_file: str | os.PathLike,
    folder: str | os.PathLike,
    name: str | None = None,
    dtype: str = "float32",
    weights_file: str | None = None,
    force: bool = False,
) -> str:
    """
    Writes `options.json` and `weights.hdf5` of the biLM in an archive to a folder, whole or not at
    all, and says so. The parameters are those of the command line.
    """
    files = [Path(folder) / name for name in ("options.json", "weights.hdf5")]
    there = [str(file) for file in files if file.exists()]
    if there and not force:
        raise ConfigurationError(
            f"{' and '.join(there)} would be overwritten; choose another folder, or --force"
        )
    chosen, bilm = load_bilm(archive_file, name, weights_file)
    bilm.to_files(folder, dtype)
    return (
        f"Wrote {files[0]} and {files[1]}: the biLM {chosen} of {archive_file}, "
        f"{num_parameters(bilm.options):,} parameters as {dtype}, state {bilm.state_name}."
    )
