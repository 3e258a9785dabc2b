"""
Fill the store of a biLM's layers.

Compute the layers of every sentence in the training and validation data of a config, with the biLM
of its model, and save them in the biLM's store, where trainings read them. Layers that the store
has already are not computed, so the command may be stopped and run again. --processes uses several
cores.

examples:
  elmo-tasks store training_configs/sst/both.jsonnet --processes 2
"""

import argparse

from elmo_tasks.commands.options import add_count, add_shared, device_of

GOES_ON = "the same command goes on from here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", help="the path of a training config")
    add_count(parser, "--processes", 1, "processes that compute")
    add_shared(parser, "--cuda-device", "--threads", "--overrides")


def run(args: argparse.Namespace) -> None:
    from elmo_tasks.analysis.config_store import fill_from_config, find_store_path
    from elmo_tasks.in_allennlp.config_names import read_config

    device_of(args)
    config = read_config(args.config, args.overrides)
    path = find_store_path(config)
    fill_from_config(config, path, cuda_device=args.cuda_device, num_processes=args.processes)
