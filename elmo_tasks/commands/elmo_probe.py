import argparse

from elmo_tasks.analysis.probe.report import draw, run_config, text_of
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.commands.outputs import add_outputs, deliver
from elmo_tasks.in_allennlp.config_names import read_config


class ElmoProbe(Command):
    """
    Measures how well each layer of a biLM predicts the tags of words.

    Registered as a `Subcommand` with name "elmo-probe".
    """

    name = "elmo-probe"
    help = CATALOG["probe"].help
    description = """
Measure what each layer of a biLM knows of words, such as their parts of speech or their senses. A
simple classifier learns the tags of a file in columns: from the vectors of each layer alone, and
from a trained mix of all layers (Peters et al. 2018, section 5.3). The table has two baselines: the
most frequent tag of all tokens, and the most frequent tag of each word.
"""
    examples = """
examples:
  elmo-tasks probe training_configs/probe/pos.jsonnet --chart pos.png
  elmo-tasks probe training_configs/probe/senses.jsonnet -o '{"train_data_path": "my.txt"}'
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("config", metavar="CONFIG", help="the path of a config")
        parser.add_argument(
            "-o", "--overrides", default="", help="a JSON object with changes to the config"
        )
        add_outputs(parser)

    def run(self, args: argparse.Namespace) -> None:
        report = run_config(read_config(args.config, args.overrides))
        deliver(args, text_of(report), report, lambda: draw(report))
