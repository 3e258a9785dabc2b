import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.analysis.ablation.ablation import run_ablation
from elmo_tasks.analysis.ablation.report import text_of
from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.analysis.ablation.settings import Settings, parse_change
from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.common.errors import ConfigurationError, check_positive
from elmo_tasks.common.lock import lock
from elmo_tasks.common.package_data import config_folder


class ElmoAblation(Command):
    """
    Trains variants of a task with several seeds, and compares the results.

    Registered as a `Subcommand` with name "elmo-ablation".
    """

    name = "elmo-ablation"
    can_be_continued = True
    help = CATALOG["ablation"].help
    description = """
Train variants of a task with several seeds each, and compare the results in a table and a JSON
file, and with several fractions of the training data in a chart. Each run is AllenNLP's own
training in its own process: if a run fails, the others go on. If the command is stopped, run it
again: complete runs are not trained again, interrupted runs continue from their last checkpoint,
and failed runs are tried again. The exit status is 0 if all runs are complete and 1 if not.
"""
    examples = """
examples:
  elmo-tasks ablation sst --variants baseline both --seeds 1 2 3 --set 'store="runs/layers"'
  elmo-tasks ablation sst --variants input both --seeds 1 2 --set hidden_dim=150 \\
      --set num_epochs=10 --set 'bilm="small"' -s runs/ablation/sst-small
  elmo-tasks ablation snli --variants baseline both --seeds 1 2 3 --train-fraction 0.01,0.1,1
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("task", metavar="TASK", help="a folder of training_configs, such as sst")
        add(
            "--variants",
            nargs="+",
            metavar="NAME",
            help="configs of the task, such as baseline both",
        )
        add(
            "--seeds",
            nargs="+",
            type=int,
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
            help="train on each of these fractions of the training data, such as 0.01,0.1,1, as in "
            "the paper's Figure 1; each fraction is drawn with the seed of the run, and is trained "
            "for as many updates as all of the data",
        )
        add(
            "--set",
            dest="changes",
            action="append",
            type=_change,
            default=[],
            metavar="FIELD=VALUE",
            help="set a field of the task's library, for all variants; the value is jsonnet",
        )
        add(
            "-o",
            "--overrides",
            default="",
            help="JSON overrides for all variants, as in elmo-tasks train",
        )
        add(
            "--jobs",
            type=int,
            default=1,
            metavar="N",
            help="runs to train at the same time (default: 1)",
        )
        add(
            "--threads",
            type=int,
            metavar="N",
            help="OMP_NUM_THREADS of each run (default: PyTorch's threads, divided by the jobs)",
        )

    def run(self, args: argparse.Namespace) -> None:
        check_positive("--jobs", args.jobs)
        check_positive("--threads", args.threads)
        if min(args.seeds) < 0:
            raise ConfigurationError(f"--seeds must be 0 or more, not {min(args.seeds)}")
        root = Path(args.serialization_dir or Path("runs", "ablation", args.task))
        configs = Path(args.configs or _configs(args.task))
        settings = Settings(configs, dict(args.changes), args.overrides)
        runs = [
            Run(root, variant, seed, fraction)
            for variant in settings.choose(args.variants or [])
            for fraction in args.train_fraction or [1.0]
            for seed in dict.fromkeys(args.seeds)
        ]
        threads = args.threads or max(1, torch.get_num_threads() // args.jobs)
        with lock(root):
            report = run_ablation(
                args.task, runs, settings, args.jobs, threads, args.include_package
            )
        print(f"\n{text_of(report)}\nThis table and results.json are in {root}.")
        sys.exit(1 if any(run["status"] == "failed" for run in report["runs"]) else 0)


def _configs(task: str) -> Path:
    here = Path("training_configs")
    return (here if here.is_dir() else config_folder()) / task


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


def _change(text: str) -> tuple[str, Any]:
    try:
        return parse_change(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
