"""
Measure how good a model is on labelled data.

FILE has the format that the model was trained on. Several files are separated by commas.
--predictions-output-file writes the answer to each input of the file, as `elmo-tasks predict` gives
it in JSON.

examples:
  elmo-tasks evaluate runs/reviews reviews/dev.jsonl
  elmo-tasks evaluate sst data/sst/dev.txt --output dev.json
"""

import argparse

from elmo_tasks.commands.options import COUNT, add_model, add_model_options, add_output
from elmo_tasks.common import registration


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(parser)
    add("input_file", metavar="FILE", help="labelled data in the format of the training data")
    add_output(parser, "write the metrics to this file, too, as JSON")
    add("--predictions-output-file", metavar="OUT", help="write the answers to this file")
    add("--batch-size", type=COUNT, metavar="N", help="inputs in a batch (default: as in training)")
    add(
        "--extend-vocab",
        action="store_true",
        help="give the words of FILE that the model does not know new vectors",
    )
    add(
        "--embedding-sources-mapping",
        metavar="JSON",
        default="",
        help="the files of word vectors for --extend-vocab, by the names of the embeddings in the "
        "model (default: the files of the training)",
    )
    add_model_options(parser)
    add(
        "--auto-names",
        choices=("NONE", "METRICS", "PREDS", "ALL"),
        default="NONE",
        help="name the output files after the files of data, of which there may be several",
    )
    add("--batch-weight-key", metavar="NAME", default="", help="weight the loss by this output")


def run(args: argparse.Namespace) -> None:
    registration.register()
    from elmo_tasks.in_allennlp.evaluate_command import evaluate

    evaluate(args)
