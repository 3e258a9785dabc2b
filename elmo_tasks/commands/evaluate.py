"""
Measure how good a model is on labelled data.

FILE has the format that the model was trained on. Several files are separated by commas.
--predictions-output-file writes the answer to each input of the file, in the JSON of `elmo-tasks
predict`.

examples:
  elmo-tasks evaluate runs/reviews reviews/dev.jsonl
  elmo-tasks evaluate sst data/sst/dev.txt --output dev.json
"""

import argparse
import re
from typing import Any

from elmo_tasks.commands.options import add_count, add_shared, device_of, package_folder

# Metrics that are not printed: the weights of the mixes, and the parts of the loss.
_ABOUT_TRAINING = re.compile(r"elmo_(input|output)_(s\d+|gamma)$|(reg|batch)_loss$")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_shared(parser, "archive_file")
    add("input_file", metavar="FILE", help="labelled data in the format of the training data")
    add_shared(parser, "--output", help="write the metrics to this file, too, as JSON")
    add("--predictions-output-file", metavar="OUT", help="write the answers to this file")
    add_shared(parser, "--force")
    add_count(parser, "--batch-size", None, "inputs in a batch (default: as in training)")
    add_shared(parser, "--overrides", "--cuda-device", "--threads")


def inputs(args: argparse.Namespace) -> list[Any]:
    return [args.input_file]


def run(args: argparse.Namespace) -> None:
    _check_written(args)
    device_of(args)
    from elmo_tasks.commands.in_allennlp.evaluate_command import evaluate

    metrics = evaluate(args)
    for name, value in metrics.items():
        if not _ABOUT_TRAINING.search(name):
            print(f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}")


def _check_written(args: argparse.Namespace) -> None:
    from elmo_tasks.common.outputs import check_outputs

    # Several files are separated by commas, or are texts in JSON.
    outputs = (args.output or "", args.predictions_output_file or "")
    files = [name for names in outputs for name in names.split(",") if name]
    inputs = [args.input_file, *(name.strip(' "') for name in args.input_file.split(","))]
    check_outputs(files, [package_folder(args.archive_file), *inputs], args.force)
