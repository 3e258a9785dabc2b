"""
Check whether the options and weights of a biLM are sound.

Describe a biLM, given by its name or by its two files in the layout of bilm-tf, open it, and
compute the layers of a sentence. If it cannot be opened, say why: weights are missing, are not
needed, do not have the shape in the options, or are not finite. The exit status is 0 if the files
are sound and 1 if not.

examples:
  elmo-tasks check base
  elmo-tasks check options.json weights.hdf5
"""

import argparse
import sys

from elmo_tasks.common.progress import working


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "options",
        metavar="BILM|OPTIONS",
        help="a known biLM, such as base; a folder with options.json and weights.hdf5; or the "
        "path of an options.json",
    )
    parser.add_argument(
        "weights",
        metavar="WEIGHTS",
        nargs="?",
        help="the path of the weights.hdf5 of an options.json",
    )


def run(args: argparse.Namespace) -> None:
    with working("starting"):
        from elmo_tasks.analysis.check import check
        from elmo_tasks.elmo.locate import locate_bilm

    located = locate_bilm((args.options, args.weights) if args.weights else args.options)
    with working(f"checking {args.options}"):
        report = check(located.options, located.weights)
    print(report)
    sys.exit(1 if report.problems else 0)
