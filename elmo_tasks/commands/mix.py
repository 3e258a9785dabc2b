"""
Show the weights that models give the layers of their biLM.

For each place where ELMo joins a model, show the weights s_j of the layers, which sum to 1, and
gamma (Peters et al. 2018, equation 1). --chart draws the weights as in the paper's Figure 2.

examples:
  elmo-tasks mix runs/sst/both runs/ner/input --chart mix.png
"""

import argparse

from elmo_tasks.commands.options import add_report, check_written, deliver
from elmo_tasks.common.progress import working


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "archives",
        metavar="[NAME=]MODEL",
        nargs="+",
        help="the model.tar.gz or the folder of a training run; NAME is by default its path "
        "without the leading folders that all models share",
    )
    add_report(parser)


def run(args: argparse.Namespace) -> None:
    with working("opening the models"):
        from elmo_tasks.analysis.charts import draw_mixes
        from elmo_tasks.analysis.mix import mix_table, read_mixes
        from elmo_tasks.archives.known_models import name_archives

        archives = name_archives(args.archives)
        check_written(args, *archives.values())
        mixes = [mix for name in archives for mix in read_mixes(name, archives[name])]
    deliver(args, mix_table(mixes), {"mixes": mixes}, lambda: draw_mixes(mixes))
