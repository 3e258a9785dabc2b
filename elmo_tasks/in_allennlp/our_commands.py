import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from allennlp.commands import evaluate, predict, train
from allennlp.commands.subcommand import Subcommand

from elmo_tasks.in_allennlp import evaluate_command, predict_command, train_command
from elmo_tasks.in_allennlp.config_names import configs_by_name


class _Train(train.Train):
    name = "train"

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = super().add_subparser(parser)
        subparser.add_argument(
            "--folds",
            type=int,
            metavar="N",
            help="for classify and tag: in the end, split training and validation data into N "
            "folds, train once without each fold, and print the scores' mean and deviation",
        )
        subparser.set_defaults(func=train_command.train)
        return subparser


class _Evaluate(evaluate.Evaluate):
    name = "evaluate"

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = super().add_subparser(parser)
        subparser.set_defaults(func=evaluate_command.evaluate)
        return subparser


class _Predict(predict.Predict):
    name = "predict"

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = super().add_subparser(parser)
        add = subparser.add_argument
        add("--jsonl", action="store_true", help="answer plain text and tables in JSON, too")
        add(
            "--column",
            metavar="NAME",
            help="the column of a table (.csv, .tsv) that has the texts (default: the name of the "
            "input, such as sentence, or text)",
        )
        add(
            "--split",
            action="store_true",
            help="cut lines of plain text, or fields of a table, into sentences",
        )
        subparser.set_defaults(func=predict_command.predict)
        return subparser


_OURS = {each.name: (each, None) for each in (_Evaluate, _Predict, _Train)}


@contextmanager
def our_commands() -> Iterator[None]:
    """
    While the block runs, AllenNLP's commands are those of `elmo-tasks`: `train`, `predict` and
    `evaluate` are ours, and all commands find configs by our names. `allennlp` never runs this.
    """
    registry = Subcommand._registry[Subcommand]
    before = dict(registry)
    registry.update(_OURS)
    try:
        with configs_by_name():
            yield
    finally:
        registry.update(before)
