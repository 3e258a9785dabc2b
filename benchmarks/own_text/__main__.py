"""
Compares `classify` and `tag` with what one would use instead, by the number of labels: TF-IDF, the
mean of GloVe and `ElmoFeatures`, each with logistic regression; spaCy's components from nothing;
and our models with GloVe, without and with ELMo. Prints a table in Markdown and draws a chart. What
was measured is kept in a JSON file, so that the same command goes on after a kill.

    python -m benchmarks.own_text
    python -m benchmarks.own_text --tasks sentences --sizes 50 200 --draws 2

All systems get the same draws of the training data. Those that choose an epoch hold out a fifth of
their draw for it. Seconds are CPU time of the training, and of the prediction of 1,000 examples.
"""

import argparse
import logging
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.harness import Kept, mean_cell, parser, report
from benchmarks.own_text.data import TASKS, Example, draw, score
from benchmarks.own_text.systems import Train, systems
from elmo_tasks.elmo.locate import DEFAULT_BILM

# Sizes up to this one have several draws.
_SMALL = 1000

Results = dict[str, dict[str, float]]


def main() -> None:
    options = parser("own_text", __doc__)
    add = options.add_argument
    add("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="default: all")
    add("--sizes", nargs="+", default=["50", "200", "1000", "5000", "all"], metavar="N")
    add("--draws", type=int, default=5, help=f"of sizes up to {_SMALL:,} (default: 5)")
    add("--bilm", default=DEFAULT_BILM, help="a name, or the folder of a training (default: base)")
    add("--data", type=Path, default=Path("data"), help="folder of the data (default: data)")
    add("--results", type=Path, default=Path("own_text.json"), help="default: own_text.json")
    add("--chart", type=Path, help="a PNG to draw")
    args = options.parse_args()
    logging.disable(logging.INFO)
    results = Kept(args.results)
    for task in args.tasks:
        measure(task, args, results)
    for task in args.tasks:
        columns = [TASKS[task].unit, *args.sizes, "training", "1,000 predictions"]
        report(columns, rows(task, args.sizes, results.results), "score in percent, CPU seconds")
    if args.chart is not None:
        chart(args.tasks, results.results).savefig(args.chart, dpi=150)


def measure(task: str, args: argparse.Namespace, results: Kept) -> None:
    """Adds what is missing in the results of a task."""
    kind, load, _ = TASKS[task]
    train, test = load(args.data)
    systems_of_kind = systems(kind, args.bilm)
    for size in args.sizes:
        num = len(train) if size == "all" else int(size)
        for seed in range(1, 1 + (args.draws if size != "all" and num <= _SMALL else 1)):
            examples = draw(train, num, seed)
            for name, system in systems_of_kind.items():
                bilm = args.bilm if "elmo" in name.lower() else ""
                key = "|".join([task, size, str(seed), name, bilm])
                work = partial(try_system, system, kind, examples, test, args.data, seed)
                results.get(key, measure=work)


def try_system(
    system: Train, kind: str, train: list[Example], test: list[Example], data: Path, seed: int
) -> dict[str, float]:
    """Trains a system, and returns its score and what it took."""
    start = time.process_time()
    predict = system(train, data.resolve(), seed)
    trained_at = time.process_time()
    predictions = predict([example.text for example in test])
    end = time.process_time()
    return {
        "score": score(kind, [example.gold for example in test], predictions),
        "train": trained_at - start,
        "predict": 1000 * (end - trained_at) / len(test),
        "labels": len(train),
    }


def names_of(results: Results, task: str) -> list[str]:
    return list(dict.fromkeys(name_of(key) for key in results if key.startswith(f"{task}|")))


def name_of(key: str) -> str:
    """Returns the name of a system, with that of its biLM if this is not `base`."""
    *_, name, bilm = key.split("|")
    return name if bilm in ("", DEFAULT_BILM) else f"{name}, {bilm}"


def rows(task: str, sizes: list[str], results: Results) -> list[list[str]]:
    """Returns a row for each system: its scores, and the seconds of its largest size."""
    table = []
    for name in names_of(results, task):
        keys = [key for key in results if key.startswith(f"{task}|") and name_of(key) == name]
        of = [[results[key] for key in keys if key.split("|")[1] == size] for size in sizes]
        cells = [mean_cell([100 * result["score"] for result in runs]) for runs in of]
        last = [result for runs in of for result in runs][-1:]
        seconds = [f"{result[what]:.1f}" for result in last for what in ("train", "predict")]
        table.append([name, *cells, *(seconds or ["", ""])])
    return table


def chart(tasks: list[str], results: Results) -> Figure:
    figure = Figure((5.5 * len(tasks), 4.2), layout="constrained")
    axes: Any = figure.subplots(1, len(tasks), squeeze=False)[0]
    for axis, task in zip(axes, tasks):
        for name in names_of(results, task):
            points: dict[float, list[float]] = {}
            for key, result in results.items():
                if key.split("|")[0] == task and name_of(key) == name:
                    points.setdefault(result["labels"], []).append(100 * result["score"])
            x = sorted(points)
            y = [statistics.mean(points[size]) for size in x]
            axis.plot(x, y, marker="o", linewidth=2.5 if "ELMo" in name else 1.2, label=name)
        axis.set(xscale="log", xlabel=TASKS[task].unit, ylabel="accuracy or F1, %")
        axis.legend(fontsize=8)
    return figure


if __name__ == "__main__":
    main()
