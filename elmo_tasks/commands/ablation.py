"""
Train variants of a task with several seeds, and compare the results.

A table and a JSON file compare the results. With several fractions of the training data, there is
also a chart. Each run is a training run of AllenNLP in its own process: if a run fails, the others
go on. If the command is stopped, run it again: complete runs are not trained again, interrupted
runs continue from their last checkpoint, and failed runs are tried again. The exit status is 0 if
all runs are complete and 1 if not.

examples:
  elmo-tasks ablation sst --variants baseline both --seeds 1 2 3 \\
      --set 'store="runs/layers"'
  elmo-tasks ablation sst --variants input both --seeds 1 2 -s runs/small \\
      --set hidden_dim=150 --set num_epochs=10 --set 'bilm="small"'
  elmo-tasks ablation snli --variants baseline both --seeds 1 2 3 \\
      --train-fraction 0.01,0.1,1
"""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from elmo_tasks.commands.options import add_count, add_shared, whole_number

GOES_ON = "the same command goes on from here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("task", metavar="TASK", help="a folder of training_configs, such as sst")
    add("--variants", nargs="+", metavar="NAME", help="configs of the task, such as baseline both")
    add(
        "--seeds",
        nargs="+",
        type=partial(whole_number, 0),
        required=True,
        metavar="N",
        help="train each variant with these seeds",
    )
    add(
        "-s",
        "--serialization-dir",
        metavar="DIR",
        help="the folder of the runs (default: runs/ablation/TASK)",
    )
    add(
        "--configs",
        metavar="DIR",
        help="the folder of the configs (default: training_configs/TASK here, otherwise of "
        "the installed package)",
    )
    add(
        "--train-fraction",
        type=_fractions,
        metavar="F,F,...",
        help="train on each of these fractions of the training data, such as 0.01,0.1,1, as in the "
        "paper's Figure 1; the fraction is drawn with the seed of the run, and each run has "
        "as many updates as a run on all of the data",
    )
    add(
        "--set",
        dest="changes",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="set a field of the task's library, for all variants; the value is jsonnet",
    )
    add_shared(
        parser,
        "--force",
        help="replace an output that exists, and train runs of other settings again",
    )
    add_shared(parser, "--overrides", "--threads")
    add_count(parser, "--jobs", 1, "runs to train at the same time")


def run(args: argparse.Namespace) -> None:
    from elmo_tasks.analysis.ablation.ablation import run_ablation
    from elmo_tasks.analysis.ablation.run import Run, text_of
    from elmo_tasks.analysis.ablation.settings import AblationSettings, parse_change
    from elmo_tasks.common.files import lock
    from elmo_tasks.common.package_data import config_folder

    changes: dict[str, Any] = dict(map(parse_change, args.changes))
    root = Path(args.serialization_dir or Path("runs", "ablation", args.task))
    folder = Path("training_configs")
    configs = (folder if folder.is_dir() else config_folder()) / args.task
    settings = AblationSettings(Path(args.configs or configs), changes, args.overrides)
    runs = [
        Run(root, variant, seed, fraction)
        for variant in settings.choose(args.variants or [])
        for fraction in args.train_fraction or [1.0]
        for seed in dict.fromkeys(args.seeds)
    ]
    packages = ["elmo_tasks.plugin", *args.include_package]
    with lock(root):
        report = run_ablation(args.task, runs, settings, args.jobs, packages, args.force)
    print(f"\n{text_of(report)}\nThis table and results.json are in {root}.")
    sys.exit(1 if any(run["status"] == "failed" for run in report["runs"]) else 0)


def _fractions(text: str) -> list[float]:
    try:
        fractions = sorted({float(part) for part in text.split(",")})
    except ValueError:
        fractions = []
    if not fractions or not all(0 < fraction <= 1 for fraction in fractions):
        raise argparse.ArgumentTypeError(
            f"expected numbers above 0 and at most 1, such as 0.01,0.1,1, not {text!r}"
        )
    return fractions
