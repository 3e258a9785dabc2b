import argparse

from elmo_tasks.analysis.config_store import fill_from_config, find_store_path
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.common.errors import check_positive
from elmo_tasks.in_allennlp.config_names import read_config


class ElmoStore(Command):
    """
    Fills the store of a biLM before a training.

    Registered as a `Subcommand` with name "elmo-store".
    """

    name = "elmo-store"
    can_be_continued = True
    help = CATALOG["store"].help
    description = """
Compute the layers of every sentence in the training and validation data of a config, with the biLM
of its model, and save them in the biLM's store, where trainings read them. Layers that the store
has already are not computed, so the command may be stopped and run again. --processes uses several
cores.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("config", metavar="CONFIG", help="the path of a training config")
        add("--path", help="the folder of the store (default: that of the config)")
        add("--processes", type=int, default=1, help="processes that compute (default: 1)")
        add("--batch-tokens", type=int, default=2048, help="tokens per batch (default: 2048)")
        add("--cuda-device", type=int, default=-1, help="the index of the GPU (default: the CPU)")
        add("-o", "--overrides", default="", help="a JSON object with changes to the config")

    def run(self, args: argparse.Namespace) -> None:
        check_positive("--processes", args.processes)
        config = read_config(args.config, args.overrides)
        path = args.path or find_store_path(config)
        fill_from_config(config, path, args.batch_tokens, args.cuda_device, args.processes)
