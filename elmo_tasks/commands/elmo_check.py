import argparse
import sys

from allennlp.commands.subcommand import Subcommand

from elmo_tasks.analysis.check import check
from elmo_tasks.commands.command import Command


@Subcommand.register("elmo-check")
class ElmoCheck(Command):
    """
    Says in words what a pair of options and weights is, and what is wrong with it.

    Registered as a `Subcommand` with name "elmo-check".
    """

    requires_plugins = False
    help = "Say whether the options and weights of a biLM are sound."
    description = """
Say what a biLM is, from its two files in the layout of bilm-tf, and whether the two are sound: all
that is missing, is too much, has another shape than the options ask for, is no finite number or
holds one number alone; what the biLM makes of a sentence; and whether AllenNLP's own loader takes
it. The exit status is 0 if the pair is sound and 1 if not.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("options_file", metavar="OPTIONS", help="path of an options.json")
        parser.add_argument(
            "weight_file",
            metavar="WEIGHTS",
            help="path of a weights.hdf5, or the name of a known biLM, such as original",
        )

    def run(self, args: argparse.Namespace) -> None:
        report = check(args.options_file, args.weight_file)
        print(report)
        sys.exit(1 if report.problems else 0)
