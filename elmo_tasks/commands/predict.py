"""
Predict with a model.

FILE is plain text (a sentence on each line, for coreference a document), a table (.csv, .tsv,
.parquet, .xlsx), JSON on each line (.json, .jsonl), or sentences in columns (.conll, .conllu); the
standard input (-) is text or JSON. Each input has one answer, in the order of the inputs. Printed
answers are text for text and tables, and JSON for JSON; empty lines are skipped.

--output writes the answers in the form that its suffix names (.csv, .tsv, .parquet, .xlsx, .jsonl,
.txt), otherwise in the form of FILE. A table has the rows of FILE as they were, and then columns
with the answer: label and probability, or entities, tags, answer and so on; lists are JSON. A row
without a text has an empty answer. JSON has the label first, and then all fields of FILE. A file in
columns comes back as columns, with the predicted tag in the last one (.conll, .tsv, or as FILE is
called).

If an input cannot be answered, the reason is in the column `error` of a table, in {"error": "the
reason", "line": 3} of JSON, or in the line `ERROR line 3: the reason` of text; the exit status is
then 1.

A passage of more than 400 tokens is read in windows. With --passage, FILE has a question on each
line, or JSON or a table with a `question`. An answer then also has the paragraph that it is in.

examples:
  echo "A warm, funny film." | elmo-tasks predict sst -
  elmo-tasks predict runs/reviews new.csv --column review --output answers.csv
  elmo-tasks predict squad --passage manual.txt questions.txt
"""

import argparse
from typing import Any

from elmo_tasks.commands.options import add_count, add_shared, check_written, device_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_shared(parser, "archive_file")
    add("input_file", metavar="FILE", help="the inputs; - for the standard input")
    add_shared(parser, "--output", help="write the answers to this file; nothing is printed")
    add_shared(parser, "--force")
    add("--silent", action="store_true", help="no effect: --output prints nothing")
    add("--jsonl", action="store_true", help="answer plain text and tables in JSON, too")
    default = "the name of the input, such as sentence, or text"
    add_shared(parser, "--column", help=f"the column or field with the texts (default: {default})")
    add("--no-header", action="store_true", help="a table has no header; its columns are 1, 2, ...")
    add("--passage", metavar="FILE", help="for squad: the text that all questions are about")
    add_count(parser, "--top-k", None, "for squad: the number of best answers (default: 5)", "K")
    default = "32, or 1 if the inputs are typed"
    add_count(parser, "--batch-size", None, f"inputs in a batch (default: {default})")
    add_shared(parser, "--overrides", "--cuda-device", "--threads")


def inputs(args: argparse.Namespace) -> list[Any]:
    return [args.input_file, *filter(None, [args.passage])]


def run(args: argparse.Namespace) -> None:
    check_written(args, args.archive_file, args.input_file, *filter(None, [args.passage]))
    device_of(args)
    from elmo_tasks.commands.in_allennlp.predict_command import predict

    predict(args)
