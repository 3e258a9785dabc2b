import argparse

from elmo_tasks.analysis.archive_names import name_archives
from elmo_tasks.analysis.mix import draw, mix_table, read_mixes
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.commands.outputs import add_outputs, deliver


class ElmoMixReport(Command):
    """
    Shows the weights that models give the layers of their biLM.

    Registered as a `Subcommand` with name "elmo-mix".
    """

    name = "elmo-mix"
    help = CATALOG["mix"].help
    description = """
Show how models mix the layers of their biLM at each place where ELMo joins them: the weights s_j of
the layers, which sum to 1, gamma, and the products of both (Peters et al. 2018, equation 1).
--chart draws the weights as in the paper's Figure 2.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "archives",
            metavar="[NAME=]ARCHIVE",
            nargs="+",
            help="the model.tar.gz or the folder of a training; by default it is named after its "
            "path, less the folders that all archives share",
        )
        add_outputs(parser)

    def run(self, args: argparse.Namespace) -> None:
        archives = name_archives(args.archives)
        mixes = [mix for name in archives for mix in read_mixes(name, archives[name])]
        deliver(args, mix_table(mixes), {"mixes": mixes}, lambda: draw(mixes))
