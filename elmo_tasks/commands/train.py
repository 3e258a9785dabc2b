"""
Train a model.

CONFIG is a jsonnet file, such as a file that `elmo-tasks new` wrote, or the name of a config of
this package. DIR gets the model (model.tar.gz), the vocabulary, the metrics of each epoch and the
log. After an interruption, --recover goes on from the last checkpoint.

examples:
  elmo-tasks train reviews.jsonnet -s runs/reviews
  elmo-tasks train reviews.jsonnet -s runs/reviews --recover
  elmo-tasks train elmo_tasks:sst/both -s runs/sst \\
      -o '{"trainer.num_epochs": 3}'
"""

import argparse
from typing import Any

from elmo_tasks.commands.options import add_shared
from elmo_tasks.common.package_data import config_path

GOES_ON = "the same command with --recover goes on from the last checkpoint"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("param_path", metavar="CONFIG", help="the path of a config, or its name in this package")
    add("-s", "--serialization-dir", metavar="DIR", required=True, help="the folder to write to")
    add("-r", "--recover", action="store_true", help="go on with the training run in DIR")
    add_shared(parser, "--force", help="replace the training run in DIR")
    add(
        "--folds",
        type=int,
        metavar="N",
        help="for classify and tag: after the training, split training and validation data into "
        "N folds, train once without each fold, and print the scores' mean and deviation",
    )
    add_shared(parser, "--overrides", "--threads")
    add(
        "--file-friendly-logging",
        action="store_true",
        help="write each state of the progress bar on a line of its own",
    )
    add(
        "--node-rank",
        type=int,
        default=0,
        metavar="I",
        help="the index of this machine, if several train one model (default: 0)",
    )


def inputs(args: argparse.Namespace) -> list[Any]:
    return [config_path(args.param_path)]


def run(args: argparse.Namespace) -> None:
    from elmo_tasks.commands.in_allennlp.train_command import train

    train(args)
