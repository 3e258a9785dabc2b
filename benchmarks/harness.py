"""What the benchmarks share: options, times in alternation, tables, and results that are kept."""

import argparse
import json
import multiprocessing
import os
import platform
import re
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from tqdm import tqdm

from elmo_tasks.analysis.tables import table
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.text_files import read_lines

ROOT = Path(__file__).parents[1]
# The text of the tests, for benchmarks whose text may be left out.
TEXT = ROOT / "fixtures" / "corpus" / "train.txt"
# Vectors of 256 and 512 bits, and units for bfloat16, decide which products are fast.
FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
# The variables that restrict the instructions of oneDNN, PyTorch, MKL and our own functions.
VARIABLES = (
    "ONEDNN_MAX_CPU_ISA",
    "ATEN_CPU_CAPABILITY",
    "MKL_ENABLE_INSTRUCTIONS",
    "ELMO_TASKS_NATIVE",
)
Name = TypeVar("Name", bound=Hashable)


class Time(NamedTuple):
    """
    What the turns of a work took.

    # Parameters

    wall, cpu: Medians of the seconds by the clock, and of the CPU time of this process.
    spread: The largest less the smallest CPU time, divided by the median.
    """

    wall: float
    cpu: float
    spread: float


def parser(
    module: str, description: str | None, turns: int | None = None, threads: bool = False
) -> argparse.ArgumentParser:
    """Returns a parser, which has `--turns` if a default is given, and `--threads`."""
    options = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if turns is not None:
        options.add_argument("--turns", type=int, default=turns, help=f"default: {turns}")
    if threads:
        most = torch.get_num_threads()
        options.add_argument("--threads", type=int, default=most, help="default: PyTorch's choice")
    return options


def alternate(works: Mapping[Name, Callable[[], Any]], turns: int) -> dict[Name, Time]:
    """
    Runs the works in turns, so that other programs slow down all of them. The first turn, which
    allocates memory and fills caches, does not count.
    """
    times: dict[Name, list[tuple[float, float]]] = {name: [] for name in works}
    for turn in tqdm(range(turns + 1), leave=False):
        for name, work in works.items():
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            if turn:
                times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: _time_of(*zip(*seconds)) for name, seconds in times.items()}


def _time_of(walls: tuple[float, ...], cpus: tuple[float, ...]) -> Time:
    cpu = statistics.median(cpus)
    return Time(statistics.median(walls), cpu, (max(cpus) - min(cpus)) / (cpu or 1))


def report(
    columns: Iterable[str],
    rows: Iterable[Iterable[object]],
    *about: str,
    times: Iterable[Time] = (),
) -> None:
    """Prints the heading of a table, the table, and how much the turns differ."""
    print(f"{heading(*about)}\n\n{table(list(columns), [list(map(str, row)) for row in rows])}")
    largest = max((time.spread for time in times), default=None)
    if largest is not None:
        print(f"\nThe CPU time of a row's turns differs by up to {largest:.0%}.")


def heading(*about: str) -> str:
    """Returns the date, the command, the machine and more, in one line."""
    command = shlex.join(["python", *sys.orig_argv[1:]])
    threads = f"{torch.get_num_threads()} thread(s)"
    parts = [date.today(), f"`{command}`", machine(), threads, f"torch {torch.__version__}", *about]
    return ", ".join(map(str, parts))


def machine() -> str:
    """Returns the CPU, its cores, those of `FLAGS` that it has, and `VARIABLES` that are set."""
    cpu = cpu_info("model name") or platform.machine()
    flags = ", ".join(sorted({*FLAGS} & {*cpu_info("flags").split()})) or "none"
    names = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    return ", ".join([f"{cpu}, {os.cpu_count()} cores (flags: {flags})", *names])


def cpu_info(field: str) -> str:
    """Returns what Linux tells of the first CPU, or an empty text on another system."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(rf"^{field}\s*: (.+)$", text, re.MULTILINE)
    return match[1] if match else ""


def mean_cell(values: list[float]) -> str:
    """Returns the mean, and the standard deviation if there are several values."""
    if not values:
        return ""
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{deviation}"


class Kept:
    """
    Results in a file of JSON, so that the same command goes on where it ended.

    # Parameters

    path: The file, written anew after each result, or `None` to keep nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.results: dict[str, Any] = {}
        if path is not None and path.exists():
            self.results = json.loads(path.read_text(encoding="utf-8"))

    def get(self, *names: str, measure: Callable[[], Any]) -> Any:
        """Returns the result of these names, one in the other, and measures it if it is missing."""
        *outer, last = names
        node = self.results
        for name in outer:
            node = node.setdefault(name, {})
        if last not in node:
            print(f"{' '.join(names)} ...", file=sys.stderr, flush=True)
            node[last] = measure()
            if self.path is not None:
                write_whole(self.path, json.dumps(self.results, indent=1) + "\n")
        return node[last]


def sentences_of(text: str | os.PathLike, num_lines: int | None = None) -> list[list[str]]:
    """Returns the words of the first lines of a tokenized text, without empty lines."""
    return [words for line in islice(read_lines(text), num_lines) if (words := line.split())]


def in_a_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function in a process of its own, which has a low peak and nothing open."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def peak_megabytes() -> float:
    """Returns the largest resident set of this process so far, which Linux tells."""
    # `resource` would return the peak of the parent process if that is larger.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.findall(r"VmHWM:\s*(\d+)", status)[0]) / 1024
