import argparse
import json

from allennlp.commands import predict
from allennlp.commands.subcommand import Subcommand

from elmo_tasks.elmo.known_models import KNOWN_MODELS
from elmo_tasks.in_allennlp.predict_manager import parse_settings

_DESCRIPTION = """
Predict with a model. The input is plain text (a sentence on each line, for coreference a document),
a table (.csv, .tsv), JSON on each line (.json, .jsonl), or sentences in columns (.conll, .conllu);
the standard input (-) is text or JSON. Further columns and fields are given back in the answer.
Each input has one answer, in the order of the inputs: text for text and tables, and a line of JSON
for JSON. Empty lines, and rows of a table without a text, are left out.
"""


@Subcommand.register("predict", exist_ok=True)
class ElmoPredict(predict.Predict):
    """
    AllenNLP's `predict` with options for text and tables. `allennlp predict` reads its options
    before it imports plugins, so it has the new options only if the plugin was imported before.
    Without them, `--predictor-args` has the same effect (see `TextPredictor`).

    Registered as a `Subcommand` with name "predict".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = super().add_subparser(parser)
        subparser.description = (
            f"{_DESCRIPTION}\nModels of this package: {', '.join(KNOWN_MODELS)}."
        )
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
        subparser.set_defaults(func=_predict)
        return subparser


def _predict(args: argparse.Namespace) -> None:
    settings = parse_settings(args.predictor_args)
    if args.jsonl:
        settings["format"] = "json"
    if args.column is not None:
        settings["column"] = args.column
    if args.split:
        settings["split"] = True
    args.predictor_args = json.dumps(settings) if settings else ""
    predict._predict(args)
