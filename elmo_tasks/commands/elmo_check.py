import argparse
import sys

from elmo_tasks.analysis.check import check
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
Describe a biLM from its two files in the layout of bilm-tf, and check them: lists weights that are
missing, not needed, of another shape than in the options, not finite, or all equal; computes the
layers of a sentence; and, as `allennlp elmo-check`, tries AllenNLP's own loader. The exit status is
0 if the files are sound and 1 if not.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("options_file", metavar="OPTIONS", help="the path of an options.json")
        parser.add_argument(
            "weight_file",
            metavar="WEIGHTS",
            help="the path of a weights.hdf5, or the name of a known biLM, such as original",
        )

    def run(self, args: argparse.Namespace) -> None:
        report = check(args.options_file, args.weight_file)
        print(report)
        sys.exit(1 if report.problems else 0)
