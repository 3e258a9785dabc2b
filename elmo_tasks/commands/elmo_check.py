import argparse
import sys

from elmo_tasks.analysis.check import check
from elmo_tasks.bilm.files.known_bilms import bilm_files
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command


class ElmoCheck(Command):
    """
    Describes the options and weights of a biLM and lists their problems.

    Registered as a `Subcommand` with name "elmo-check".
    """

    name = "elmo-check"
    requires_plugins = False
    help = CATALOG["check"].help
    description = """
Describe a biLM, given by its name or by its two files in the layout of bilm-tf, open it, and
compute the layers of a sentence. Say what is wrong if it cannot be opened: weights that are
missing, are not needed, have another shape than in the options, or are not finite. The exit status
is 0 if the files are sound and 1 if not.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "options",
            metavar="BILM|OPTIONS",
            help="a known biLM, such as base; a folder with options.json and weights.hdf5; or the "
            "path of an options.json",
        )
        parser.add_argument(
            "weights",
            metavar="WEIGHTS",
            nargs="?",
            help="the path of the weights.hdf5 of an options.json, or the name of a known biLM",
        )

    def run(self, args: argparse.Namespace) -> None:
        files = (args.options, args.weights) if args.weights else bilm_files(args.options)
        report = check(*files)
        print(report)
        sys.exit(1 if report.problems else 0)
