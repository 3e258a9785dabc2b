"""
Show where a model errs, and whether another model is better by more than chance.

The model may be for sentiment, entities, entailment, questions about texts, semantic roles or
coreference, or for your own classes or tags. The report, in Markdown, shows

- which classes the model confuses, and precision, recall and F1 of each class, or of each type
  of entity or role;
- its score for short and long texts;
- how often it is right at each level of confidence;
- the mistakes that it is most confident of, with their line and id in the file; --output writes all
  mistakes.

examples:
  elmo-tasks errors runs/sst/both data/sst/dev.txt > errors.md
  elmo-tasks errors runs/ner/input test.txt --against runs/ner/baseline
"""

import argparse
from typing import Any

from elmo_tasks.commands.options import add_count, add_report, add_shared, check_written, deliver
from elmo_tasks.common.progress import working


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "model",
        metavar="[NAME=]MODEL",
        help="the model.tar.gz or the folder of a training run, or the name of a model",
    )
    add("data", metavar="FILE", help="data in the format that the model was trained on")
    add(
        "--against",
        metavar="[NAME=]OTHER",
        help="a model of the same task to compare by a paired bootstrap",
    )
    add_count(parser, "--top", 10, "how many mistakes to show")
    about = "write all mistakes as a table (.csv, .tsv, .xlsx, .parquet) or JSON lines (.jsonl)"
    add_shared(parser, "--output", help=about)
    add_shared(parser, "--threads")
    add_report(parser, has_chart=False)


def inputs(args: argparse.Namespace) -> list[Any]:
    return [args.data]


def run(args: argparse.Namespace) -> None:
    with working("starting"):
        from elmo_tasks.analysis.errors.compare_answers import read_cases
        from elmo_tasks.analysis.errors.markdown import markdown
        from elmo_tasks.analysis.errors.report import MISTAKES, error_report, mistakes_of
        from elmo_tasks.archives.known_models import name_archives
        from elmo_tasks.archives.open_archive import open_archive
        from elmo_tasks.predictors.answer_tables import check_rows_form, write_rows

    check_rows_form(args.output)
    models = [args.model] if args.against is None else [args.model, args.against]
    (name, *other_name), paths = zip(*name_archives(models).items())
    check_written(args, args.data, *paths)
    answers, *other_answers = [read_cases(open_archive(path), args.data) for path in paths]
    other: dict[str, Any] = {}
    if args.against is not None:
        other = {"other": other_name[0], "other_cases": other_answers[0].cases}
    with working("comparing the answers"):
        report = error_report(name, args.data, answers, args.top, **other)
    if args.output is not None:
        write_rows(args.output, mistakes_of(answers.cases), MISTAKES)
    deliver(args, markdown(report), report)
