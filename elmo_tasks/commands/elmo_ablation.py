import argparse
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import torch
from allennlp.commands.subcommand import Subcommand
from allennlp.common.util import SigTermReceived
from tqdm import tqdm

from elmo_tasks.analysis.ablation.report import Report
from elmo_tasks.analysis.ablation.result import Result, find_metric, read_result
from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.analysis.ablation.settings import Settings, parse_change, refuse_other_settings
from elmo_tasks.analysis.ablation.training import Training, start, train_all
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import atomic_write

_DESCRIPTION = """
Train variants of a task with several seeds each, and compare them: a table, its numbers as JSON and
a chart. A run is AllenNLP's own training in a process of its own, so that one that fails is one
failed row. The same command again goes on where it was stopped: a run that is complete is not
trained again, one that was interrupted goes on from its last checkpoint, one that failed is tried
again. The exit status is 0 if every run is complete and 1 if not.
"""

_EXAMPLES = """
examples:
  allennlp elmo-ablation sst --variants baseline both --seeds 1 2 3 --set 'store="runs/layers"'
  allennlp elmo-ablation sst --variants input both --seeds 1 2 --set hidden_dim=150 \\
      --set num_epochs=10 --set 'bilm="small"' -s runs/ablation/sst-small
  allennlp elmo-ablation snli --variants baseline both --seeds 1 2 3 --train-fraction 0.01,0.1,1
"""


@Subcommand.register("elmo-ablation")
class ElmoAblation(Subcommand):
    """
    Trains variants of a task with several seeds, and compares them.

    Registered as a `Subcommand` with name "elmo-ablation".
    """

    def add_subparser(self, parser: argparse._SubParsersAction) -> argparse.ArgumentParser:
        subparser = parser.add_parser(
            self.name,
            description=_DESCRIPTION,
            epilog=_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            help="Train variants of a task with several seeds, and compare them.",
        )
        add = subparser.add_argument
        add("task", metavar="TASK", help="a folder of training_configs, such as sst")
        add("--variants", nargs="+", metavar="NAME", help="configs in it, such as baseline both")
        add("--seeds", nargs="+", type=_seed, required=True, metavar="N", help="a run for each")
        add("-s", "--serialization-dir", metavar="DIR", help="by default runs/ablation/TASK")
        add("--configs", metavar="DIR", help="by default training_configs/TASK")
        add(
            "--train-fraction",
            type=_fractions,
            metavar="F,F,...",
            help="train each run on these fractions of the training data, such as 0.01,0.1,1: the "
            "curve of the paper's Figure 1; the part is drawn by the seed of the run, and has as "
            "many updates as all of the data: more epochs, each of which goes through it often",
        )
        add(
            "--set",
            dest="changes",
            action="append",
            type=_change,
            default=[],
            metavar="FIELD=VALUE",
            help="a field of the task's library, for all variants; the value is jsonnet",
        )
        add("-o", "--overrides", default="", help="as for allennlp train, for all variants")
        add("--jobs", type=_count, default=1, metavar="N", help="runs at a time")
        add(
            "--threads",
            type=_count,
            metavar="N",
            help="OMP_NUM_THREADS of a run; by default those of torch here, shared by the jobs",
        )
        subparser.set_defaults(func=_ablate_from_args)
        return subparser


def _ablate_from_args(args: argparse.Namespace) -> None:
    root = Path(args.serialization_dir or Path("runs", "ablation", args.task))
    settings = Settings(
        Path(args.configs or Path("training_configs", args.task)),
        dict(args.changes),
        args.overrides,
    )
    try:
        runs = [
            Run(root, variant, seed, fraction)
            for variant in _chosen_variants(args.task, settings, args.variants or [])
            for fraction in args.train_fraction or [1.0]
            for seed in dict.fromkeys(args.seeds)
        ]
        configs = {run: settings.evaluate(run) for run in runs}
        refuse_other_settings(configs)
        metric = find_metric(configs.values())
        report = _train(args, runs, settings, metric)
    except (ConfigurationError, OSError) as error:
        sys.exit(f"elmo-ablation: {error}")
    except (KeyboardInterrupt, SigTermReceived):
        sys.exit("elmo-ablation: interrupted; the same command goes on from here")
    print(f"\n{report.text()}\nThis table, results.json and chart.png are in {root}.")
    sys.exit(1 if any(result.error is not None for result in report.results) else 0)


def _train(args: argparse.Namespace, runs: list[Run], settings: Settings, metric: str) -> Report:
    """Trains what is not there, with a report after every run."""
    # All variants with one seed before the next, so that they can be compared early.
    ordered = sorted(runs, key=lambda run: args.seeds.index(run.seed))
    threads = args.threads or max(1, torch.get_num_threads() // args.jobs)

    def begin(run: Run) -> Training | None:
        return start(run, settings, threads, args.include_package)

    results: list[Result] = []
    trainings = train_all(ordered, begin, args.jobs)
    with closing(trainings), tqdm(total=len(runs), desc=args.task, unit="run") as bar:
        for training in trainings:
            result = _result(training, metric)
            results.append(result)
            report = Report(args.task, metric, runs, results)
            tqdm.write(_line(training, result, report))
            bar.update()
            if training.process is not None or len(results) == len(runs):
                _write(report, runs[0].root)
    return report


def _result(training: Training, metric: str) -> Result:
    error = training.error()
    if error is not None:
        return Result(training.run, error)
    return read_result(training.run, metric)


def _line(training: Training, result: Result, report: Report) -> str:
    if result.value is None:
        return f"{result.run}: failed ({result.error}); its log is {result.run.log}"
    unit = " %" if report.is_percent else ""
    there = "" if training.process is not None else "; it was there already"
    return (
        f"{result.run}: validation {report.metric} {report.number(result.value)}{unit} after epoch "
        f"{result.best_epoch + 1} of {result.epochs}, {result.seconds:.1f} s an epoch{there}"
    )


def _write(report: Report, folder: Path) -> None:
    # Imported here, since no other command needs matplotlib, which takes its time.
    from elmo_tasks.analysis.ablation.chart import draw

    with atomic_write(folder / "results.json") as aside:
        aside.write_text(json.dumps(report.as_dict(), indent=2) + "\n", encoding="utf-8")
    with atomic_write(folder / "table.md") as aside:
        aside.write_text(report.text(), encoding="utf-8")
    with atomic_write(folder / "chart.png") as aside:
        draw(report).savefig(aside, format="png", dpi=150)


def _chosen_variants(task: str, settings: Settings, names: list[str]) -> list[str]:
    """Raises `ConfigurationError` where there is no such task or variant."""
    known = settings.variants()
    if not known:
        files = settings.configs.parent.glob("*/*.jsonnet")
        tasks = ", ".join(sorted({path.parent.name for path in files})) or "none"
        raise ConfigurationError(
            f"there is no task {task!r}: no configs in {settings.configs}; the tasks in "
            f"{settings.configs.parent} are: {tasks}"
        )
    there = f"{settings.configs} has {', '.join(known)}"
    if not names:
        raise ConfigurationError(f"choose some --variants; {there}")
    if unknown := [name for name in names if name not in known]:
        raise ConfigurationError(f"there is no variant {', '.join(map(repr, unknown))}; {there}")
    return list(dict.fromkeys(names))


def _seed(text: str) -> int:
    return _whole_number(text, least=0)


def _count(text: str) -> int:
    return _whole_number(text, least=1)


def _whole_number(text: str, least: int) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number from {least}, not {text!r}")
    return int(text)


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
