"""
Measures `elmo-embed` in one process, in several, and on a Ray of this machine: the same text,
written to Parquet. Prints a table in Markdown.

    python benchmarks/embed_processes.py my/text.txt --processes 2 --on processes ray

The seconds to start are those that the command takes for one line. They are taken off the seconds
of the text. The ways take turns, and the median of the turns is printed. CPU seconds are those of
all processes that a command starts. The memory of a worker is what it shares with no other process.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import machine
from elmo_tasks.common.text_files import read_lines
from scripts.kill_embedding import descendants, workers

ROOT = Path(__file__).resolve().parents[1]
_TICKS = os.sysconf("SC_CLK_TCK")


class Run(NamedTuple):
    """
    What one command took.

    # Parameters

    worker_bytes: The most memory that a worker had for itself.
    """

    seconds: float
    cpu_seconds: float
    worker_bytes: int


def main() -> None:
    args = _arguments()
    ways = {"one process": ["--processes", "1"]}
    for on in args.on:
        for number in args.processes:
            ray = ["--on", "ray"] if on == "ray" else []
            name = "Ray" if ray else "`--processes`"
            ways[f"{name} {number}"] = ["--processes", str(number), *ray]
    runs: dict[str, list[tuple[Run, Run]]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        text, line = Path(folder, "text.txt"), Path(folder, "line.txt")
        lines = islice(read_lines(args.text), args.lines)
        text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        line.write_text("A line .\n")
        num_tokens = len(text.read_text(encoding="utf-8").split())
        for turn in range(args.turns):
            for name, options in ways.items():
                out = Path(folder, f"{turn} {name}")
                pair = [measure(file, out / file.stem, options, args) for file in (line, text)]
                runs[name].append((pair[0], pair[1]))
    print(f"{date.today()}, {machine()}, {num_tokens:,} tokens, {args.turns} turns\n")
    print("| way | tokens/s | times one process | tokens/CPU s | MB a worker | seconds to start |")
    print("| --- | --- | --- | --- | --- | --- |")
    one = 0.0
    for name, pairs in runs.items():
        rate = num_tokens / statistics.median(run.seconds - start.seconds for start, run in pairs)
        cpu = num_tokens / statistics.median(
            run.cpu_seconds - start.cpu_seconds for start, run in pairs
        )
        one = one or rate
        megabytes = max(run.worker_bytes for _, run in pairs) / 1e6
        start = statistics.median(start.seconds for start, _ in pairs)
        speed = f"{rate:,.0f} | {rate / one:.2f} | {cpu:,.0f}"
        print(f"| {name} | {speed} | {megabytes:,.0f} | {start:.1f} |")


def measure(text: Path, out: Path, options: list[str], args: argparse.Namespace) -> Run:
    """Runs `elmo-embed`, and looks at its processes twice a second."""
    command = [sys.executable, "-m", "elmo_tasks", "embed", str(text), str(out)]
    command += ["--shards", "parquet", "--part-tokens", str(args.part_tokens), *options]
    command += ["--bilm", args.bilm]
    since, quiet = time.monotonic(), subprocess.DEVNULL
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
    cpu, most = dict[int, float](), 0
    while process.poll() is None:
        for pid in [process.pid, *descendants(process.pid)]:
            cpu[pid] = _cpu_seconds(pid) or cpu.get(pid, 0.0)
        embedding = workers(process.pid) or [process.pid]
        most = max(most, *map(_own_bytes, embedding))
        time.sleep(0.5)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with exit status {process.returncode}")
    return Run(time.monotonic() - since, sum(cpu.values()), most)


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _own_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1000 * int(line.split()[1]) for line in lines if line.startswith("Private_"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("text", help="one tokenized sentence a line; plain, .gz or .xz")
    add("--lines", type=int, default=20_000, help="lines of the text to read (default: 20000)")
    add("--processes", type=int, nargs="+", default=[2], help="default: 2")
    add("--on", nargs="+", choices=["processes", "ray"], default=["processes", "ray"])
    add("--bilm", default="mini", help="default: mini")
    add("--part-tokens", type=int, default=16_384, help="default: 16384")
    add("--turns", type=int, default=3, help="default: 3")
    return parser.parse_args()


if __name__ == "__main__":
    main()
