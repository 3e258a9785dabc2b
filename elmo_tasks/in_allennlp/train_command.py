import argparse
from pathlib import Path
from typing import Any

from allennlp.commands import train
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Params
from allennlp.common.params import parse_overrides

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.own_data.results import (
    folds_line,
    is_own,
    metric_of,
    result_lines,
    train_folds,
)


@Subcommand.register("train", exist_ok=True)
class ElmoTrain(train.Train):
    """
    AllenNLP's `train` with the option `--folds`. A training on the user's own data ends by printing
    the score and a command that predicts. As with `predict`, only `elmo-tasks` has the option.

    Registered as a `Subcommand` with name "train".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = super().add_subparser(parser)
        subparser.add_argument(
            "--folds",
            type=int,
            metavar="N",
            help="for classify and tag: in the end, split training and validation data into N "
            "folds, train once without each fold, and print the scores' mean and deviation",
        )
        subparser.set_defaults(func=_train)
        return subparser


def _train(args: argparse.Namespace) -> None:
    config = Params.from_file(args.param_path, args.overrides).as_dict(quiet=True)
    if args.folds is not None:
        if args.folds < 2:
            raise ConfigurationError(f"--folds must be 2 or more, not {args.folds}")
        if not is_own(config):
            raise ConfigurationError("--folds is for the configs of classify and tag")
    train.train_model_from_args(args)
    if args.dry_run or args.node_rank:
        return
    folder = Path(args.serialization_dir)
    for line in result_lines(config, folder):
        print(line)
    if args.folds is not None:

        def train_fold(overrides: dict[str, Any], training: Path) -> None:
            train.train_model_from_file(
                args.param_path,
                training,
                overrides={**parse_overrides(args.overrides), **overrides},
                include_package=args.include_package,
                file_friendly_logging=args.file_friendly_logging,
                return_model=False,
            )

        scores = train_folds(config, folder / "folds", args.folds, train_fold)
        print(folds_line(metric_of(config), scores))
