"""
Compares `classify` and `tag` with what one would use instead, by the number of labels: TF-IDF, the
mean of GloVe and `ElmoFeatures`, each with logistic regression; fastText; spaCy's components from
nothing; and our models with GloVe, without and with ELMo. Prints a table in Markdown and draws a
chart. What was measured is kept in a JSON file, so that the same command goes on after a kill.

    python -m benchmarks.own_text
    python -m benchmarks.own_text --tasks sentences --sizes 50 200 --draws 2

All systems get the same draws of the training data. Those that choose an epoch hold out a fifth of
their draw for it. Seconds are CPU time of the training, and of the prediction of 1,000 examples.
"""

import argparse
import importlib.util
import json
import logging
import shlex
import statistics
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from tqdm import tqdm

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.machine import machine
from benchmarks.own_text.data import TASKS, draw, score
from benchmarks.own_text.systems import systems
from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM
from elmo_tasks.common.files import atomic_write

# Sizes up to this one have several draws.
_SMALL = 1000

Results = dict[str, dict[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.own_text",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--tasks", nargs="+", choices=TASKS, default=list(TASKS), help="default: all")
    add("--sizes", nargs="+", default=["50", "200", "1000", "5000", "all"], metavar="N")
    add("--draws", type=int, default=5, help=f"of sizes up to {_SMALL:,} (default: 5)")
    add("--systems", nargs="+", metavar="NAME", help="names of the table (default: all)")
    add("--bilm", default=DEFAULT_BILM, help="a name, or the folder of a training (default: base)")
    add("--data", type=Path, default=Path("data"), help="folder of the data (default: data)")
    add("--results", type=Path, default=Path("own_text.json"), help="default: own_text.json")
    add("--chart", type=Path, help="a PNG to draw")
    args = parser.parse_args()
    logging.disable(logging.INFO)
    results: Results = json.loads(args.results.read_text()) if args.results.exists() else {}
    for task in args.tasks:
        measure(task, args, results)
    command = shlex.join(["python", "-m", "benchmarks.own_text", *sys.argv[1:]])
    print(f"{date.today()}, `{command}`, {machine()}; score in percent, CPU seconds\n")
    for task in args.tasks:
        print(table(task, args.sizes, results))
    if args.chart is not None:
        with atomic_write(args.chart) as aside:
            chart(args.tasks, results).savefig(aside, format="png", dpi=150)


def measure(task: str, args: argparse.Namespace, results: Results) -> None:
    """Adds what is missing in the results of a task, and keeps them in their file."""
    kind, load, _ = TASKS[task]
    train, test = load(args.data)
    todo = [
        (size, seed, name)
        for size in args.sizes
        for seed in range(1, 1 + (args.draws if size != "all" and int(size) <= _SMALL else 1))
        for name in systems(kind, args.bilm)
        if args.systems is None or name in args.systems
    ]
    if importlib.util.find_spec("fasttext") is None:
        print("fastText is not installed and left out", file=sys.stderr)
        todo = [each for each in todo if each[2] != "fastText"]
    for size, seed, name in tqdm(todo, desc=task):
        reads_bilm = "elmo" in name.lower()
        key = "|".join([task, size, str(seed), name, args.bilm if reads_bilm else ""])
        if key in results:
            continue
        examples = draw(train, len(train) if size == "all" else int(size), seed)
        begun = time.process_time()
        predict = systems(kind, args.bilm)[name](examples, args.data.resolve(), seed)
        trained = time.process_time()
        found = predict([each.text for each in test])
        ended = time.process_time()
        results[key] = {
            "score": score(kind, [each.gold for each in test], found),
            "train": trained - begun,
            "predict": 1000 * (ended - trained) / len(test),
            "labels": len(examples),
        }
        with atomic_write(args.results) as aside:
            aside.write_text(json.dumps(results, indent=1))


def of(results: Results, task: str, name: str, size: str) -> list[dict[str, float]]:
    """Returns what was measured of a system, for each draw."""
    return [
        found
        for key, found in results.items()
        if key.split("|")[:2] == [task, size] and name_of(key) == name
    ]


def names_of(results: Results, task: str) -> list[str]:
    return list(dict.fromkeys(name_of(key) for key in results if key.startswith(f"{task}|")))


def name_of(key: str) -> str:
    """Returns the name of a system, with that of its biLM if this is not `base`."""
    *_, name, bilm = key.split("|")
    return name if bilm in ("", DEFAULT_BILM) else f"{name}, {bilm}"


def table(task: str, sizes: list[str], results: Results) -> str:
    lines = [
        f"| {TASKS[task].unit} | {' | '.join(sizes)} | training | 1,000 predictions |",
        "| --- |" + " --- |" * (len(sizes) + 2),
    ]
    for name in names_of(results, task):
        cells, last = [], None
        for size in sizes:
            found = of(results, task, name, size)
            cells.append(_mean([100 * each["score"] for each in found]))
            last = found[-1] if found else last
        seconds = [f"{last[each]:.1f}" if last else "" for each in ("train", "predict")]
        lines.append(f"| {name} | {' | '.join([*cells, *seconds])} |")
    return "\n".join(lines) + "\n"


def _mean(values: list[float]) -> str:
    if len(values) < 2:
        return "".join(f"{value:.1f}" for value in values)
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"


def chart(tasks: list[str], results: Results) -> Figure:
    figure = Figure((5.5 * len(tasks), 4.2), layout="constrained")
    axes: Any = figure.subplots(1, len(tasks), squeeze=False)[0]
    for each, task in zip(axes, tasks):
        for name in names_of(results, task):
            points: dict[float, list[float]] = {}
            for key, found in results.items():
                if key.split("|")[0] == task and name_of(key) == name:
                    points.setdefault(found["labels"], []).append(100 * found["score"])
            x = sorted(points)
            y = [statistics.mean(points[size]) for size in x]
            each.plot(x, y, marker="o", linewidth=2.5 if "ELMo" in name else 1.2, label=name)
        each.set(xscale="log", xlabel=TASKS[task].unit, ylabel="accuracy or F1, %")
        each.legend(fontsize=8)
    return figure


if __name__ == "__main__":
    main()
